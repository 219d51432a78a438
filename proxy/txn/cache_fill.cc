// SPDX-License-Identifier: Apache-2.0
#include "txn/cache_fill.h"

#include <utility>

#include <telltale/diag/dbg.h>

#include "http/print.h"
#include "txn/stored_build.h"

namespace telltale::txn {
namespace {

constexpr DbgCtl cache_dbg{"cache"};

using http::Framing;
using Landing = FlightTable::Landing;

std::string_view what_they_do(Landing landing) {
  switch (landing) {
    case Landing::kStored: return "is for them too";
    case Landing::kNotStorable: return "is not for others: they go to the origin on their own";
    case Landing::kFailed: return "does not come: they go to the origin on their own";
  }
  return {};
}

}  // namespace

void land(FlightTable::Lead& lead, Landing landing) {
  const std::size_t waited = lead.land(landing);
  if (waited != 0) Dbg(cache_dbg, "{} requests were collapsed into this one, whose answer {}", waited, what_they_do(landing));
}

void store_response(const CacheFill::Context& context, cache::StoredResponsePtr stored, const cache::Verdict& verdict) {
  const std::size_t bytes = stored->size_bytes();
  using Stored = cache::RamCache::Stored;
  const Stored kept = context.state.cache.store(context.resource.key, std::move(stored), context.settings.variants_max,
                                                       context.generation);
  if (kept) {
    Dbg(cache_dbg, "{}{}: stored, {} bytes, {} {} s{}", context.resource.authority, http::print_target(context.resource.target),
        bytes, verdict.guessed ? "taken for fresh for" : "fresh for", (verdict.lifetime - verdict.initial_age).count(),
        verdict.always_validate ? ", to be validated each time" : verdict.selecting.empty() ? "" : ", a variant");
    context.state.counters.cache_stored.add();
  } else if (kept.outcome == Stored::kNoRoom) {
    Dbg(cache_dbg, "not stored: {} bytes do not fit into the cache", bytes);
  } else {
    Dbg(cache_dbg, "not stored: {}", kept.outcome == Stored::kChanged ? "the resource was changed meanwhile" : "a newer response came meanwhile");
  }
  const bool there = kept || kept.outcome == Stored::kNewerThere;
  land(context.lead, there && verdict.reusable() ? Landing::kStored : Landing::kNotStorable);
}

CacheFill::CacheFill(const Context& context, const http::ResponseHead& head, cache::Verdict verdict, net::SteadyTime received_at)
    : context_(context), verdict_(std::move(verdict)), received_at_(received_at) {
  if (!verdict_.stored()) {
    give_up(verdict_.why_not, Landing::kNotStorable);
  } else if (head.framing.kind == Framing::kLength && head.framing.length > context.settings.object_bytes_max) {
    give_up("the content is larger than an object may be", Landing::kNotStorable);
  } else {
    if (!verdict_.reusable()) land(context_.lead, Landing::kNotStorable);  // nobody needs to wait for the content
    head_.status = head.status;
    head_.framing = head.framing;
    head_.reason = head.reason;
    head_.fields.copy_from(head.fields);
    if (head.framing.kind == Framing::kLength) content_.reserve(head.framing.length);
  }
}

void CacheFill::give_up(std::string_view why, Landing landing) {
  Dbg(cache_dbg, "not stored: {}", why);
  active_ = false;
  content_ = {};
  land(context_.lead, landing);
}

void CacheFill::add(std::string_view piece) {
  if (!active_) return;
  if (content_.size() + piece.size() > context_.settings.object_bytes_max) {
    give_up("the content is larger than an object may be", Landing::kNotStorable);
    return;
  }
  content_.append(piece);
  // Before its last byte goes out: who asks again finds it.
  if (head_.framing.kind == Framing::kLength && content_.size() == head_.framing.length) store();
}

void CacheFill::complete() {
  if (active_) store();
}

void CacheFill::abandon() {
  if (active_) give_up("the content is incomplete", Landing::kFailed);
}

void CacheFill::store() {
  active_ = false;
  store_response(context_, build_stored(head_, std::move(content_), verdict_, received_at_), verdict_);
}

}  // namespace telltale::txn
