// SPDX-License-Identifier: Apache-2.0
#include "txn/cache_lookup.h"

#include <telltale/diag/dbg.h>

#include "cache/conditional.h"
#include "cache/reuse.h"
#include "http/cache_control.h"
#include "http/print.h"

namespace telltale::txn {
namespace {

constexpr DbgCtl cache_dbg{"cache"};


// What of the variants there are a line names: the Vary, whose members are field names. Their values may be secrets.
http::FieldPrinter print_vary(const cache::StoredResponse& stored) {
  static constexpr http::Field kNone{http::FieldId::kVary, "Vary", "-"};
  const http::Field* vary = stored.fields.find(http::FieldId::kVary);
  return http::print_field(vary != nullptr ? *vary : kNone);
}

void count_miss(Counters& counters, Lookup::Outcome outcome) {
  switch (outcome) {
    case Lookup::kHit: break;
    case Lookup::kBypass: case Lookup::kMethod: counters.cache_bypassed.add(); break;
    case Lookup::kUriMiss: case Lookup::kVaryMiss: counters.cache_misses.add(); break;
    case Lookup::kStale: case Lookup::kRequest: counters.cache_stale.add(); break;
  }
}

// Judges what was found under the key.
void judge(Lookup& lookup, const http::Fields& request, const Resource& resource, bool again) {
  const cache::StoredResponse& stored = *lookup.stored;
  cache::Reuse reuse{cache::Reuse::kFresh};  // as it nearly always is; judged in full where anything speaks against it
  if (lookup.use.demands || stored.always_validate || lookup.age >= stored.lifetime) {
    reuse = cache::judge(stored, lookup.use.demands ? cache::client_demands(request) : http::CacheControl{}, lookup.age);
  }
  const std::int64_t age = lookup.age.count(), lifetime = stored.lifetime.count();
  if (reuse.usable()) {
    lookup.outcome = Lookup::kHit;
    Dbg(cache_dbg, "{}{}: hit{}, {} s old of {} s{}{}", resource.authority, http::print_target(resource.target),
        again ? " after it was collapsed" : "", age, lifetime, reuse.why.empty() ? "" : "; ", reuse.why);
    if (!stored.selecting.empty()) Dbg(cache_dbg, "the variant that these request fields choose, {}", print_vary(stored));
    return;
  }
  lookup.outcome = reuse.state == cache::Reuse::kRefused ? Lookup::kRequest : Lookup::kStale;
  Dbg(cache_dbg, "{}{}: {}, {} s old of {} s: {}", resource.authority, http::print_target(resource.target),
      outcome_token(lookup.outcome), age, lifetime, reuse.why);
}

}  // namespace

bool Lookup::may_validate() const noexcept {
  return (outcome == kStale || outcome == kRequest) && cache::has_validator(*stored) &&
         (stored->status == 200 || stored->status == 203);
}

std::string_view outcome_token(Lookup::Outcome outcome) noexcept {
  switch (outcome) {
    case Lookup::kHit: return "hit";
    case Lookup::kBypass: return "bypass";
    case Lookup::kMethod: return "method";
    case Lookup::kUriMiss: return "uri-miss";
    case Lookup::kVaryMiss: return "vary-miss";
    case Lookup::kStale: return "stale";
    case Lookup::kRequest: return "request";
  }
  return {};
}

Lookup look_up(WorkerState& state, const TransactionSettings& settings, const http::RequestHead& request,
               const Resource& resource, bool again) {
  Lookup lookup;
  lookup.use = cache::how_request_uses_cache(request);
  if (!lookup.use.why_not.empty() || !settings.cache_enabled) {
    lookup.outcome = lookup.use.wrong_method ? Lookup::kMethod : Lookup::kBypass;
    Dbg(cache_dbg, "{}: not looked up, {}", outcome_token(lookup.outcome),
        lookup.use.why_not.empty() ? "the cache is off" : lookup.use.why_not);
  } else if (cache::RamCache::Found found = state.cache.find(resource.key, request.fields); found.response) {
    lookup.stored = std::move(found.response);
    lookup.age = lookup.stored->current_age(state.worker.now());
    judge(lookup, request.fields, resource, again);
  } else if (found.other) {
    lookup.outcome = Lookup::kVaryMiss;
    Dbg(cache_dbg, "{}{}: vary-miss, no stored variant was chosen by these request fields (the newest has {})",
        resource.authority, http::print_target(resource.target), print_vary(*found.other));
    lookup.stored = std::move(found.other);
  } else {
    lookup.outcome = Lookup::kUriMiss;
    Dbg(cache_dbg, "{}{}: uri-miss", resource.authority, http::print_target(resource.target));
  }
  if (lookup.hit()) {
    state.counters.cache_hits.add();
    return lookup;
  }
  lookup.generation = state.cache.generation(resource.key);
  if (lookup.use.demands) lookup.only_if_cached = http::parse_cache_control(request.fields).only_if_cached;
  if (!again) count_miss(state.counters, lookup.outcome);
  return lookup;
}

}  // namespace telltale::txn
