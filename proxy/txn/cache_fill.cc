// SPDX-License-Identifier: Apache-2.0
#include "txn/cache_fill.h"

#include <memory>

#include <telltale/diag/dbg.h>

#include "http/print.h"
#include "http1/head_writer.h"

namespace telltale::txn {
namespace {

constexpr DbgCtl cache_dbg{"cache"};

using http::Framing;

}  // namespace

CacheFill::CacheFill(WorkerState& state, const Resource& resource, const http::ResponseHead& head,
                     const cache::Verdict& verdict, net::SteadyTime received_at, std::size_t bytes_max)
    : state_(state), resource_(resource), verdict_(verdict), received_at_(received_at), bytes_max_(bytes_max),
      active_(verdict.why_not.empty()) {
  if (!active_) {
    Dbg(cache_dbg, "not stored: {}", verdict.why_not);
    return;
  }
  head_.status = head.status;
  head_.framing = head.framing;
  head_.fields.copy_from(head.fields);
  head_.reason = head.reason;
  if (head.framing.kind != Framing::kLength) return;
  if (head.framing.length > bytes_max_) {
    Dbg(cache_dbg, "not stored: the content is larger than an object may be");
    active_ = false;
    return;
  }
  content_.reserve(head.framing.length);
}

void CacheFill::add(std::string_view piece) {
  if (!active_) return;
  if (content_.size() + piece.size() > bytes_max_) {
    Dbg(cache_dbg, "not stored: the content is larger than an object may be");
    active_ = false;
    content_ = {};
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
  if (active_) Dbg(cache_dbg, "not stored: the content is incomplete");
  active_ = false;
}

void CacheFill::store() {
  active_ = false;
  auto stored = std::make_shared<cache::StoredResponse>();
  stored->status = head_.status;
  stored->reason = head_.reason;
  stored->fields.copy_from(head_.fields);
  stored->fields.remove(http::FieldId::kAge);  // each answer has its own
  stored->content = std::move(content_);
  stored->stored_at = received_at_;
  stored->lifetime = verdict_.lifetime;
  stored->initial_age = verdict_.initial_age;
  Framing framing = head_.status == 204 ? Framing{} : Framing{Framing::kLength, stored->content.size()};
  http1::append_response_head(stored->http1_head, stored->status, stored->reason, stored->fields, framing,
                              http1::ConnectionField::kNone);
  stored->http1_head.resize(stored->http1_head.size() - 2);  // the empty line comes after Age

  std::size_t bytes = stored->size_bytes();
  if (state_.cache.store(resource_.key, std::move(stored))) {
    Dbg(cache_dbg, "{}{}: stored, {} bytes, fresh for {} s", resource_.authority, http::print_target(resource_.target), bytes,
        (verdict_.lifetime - verdict_.initial_age).count());
    state_.counters.cache_stored.add();
  } else {
    Dbg(cache_dbg, "not stored: {} bytes do not fit into the cache", bytes);
  }
}

}  // namespace telltale::txn
