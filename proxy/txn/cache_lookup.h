// SPDX-License-Identifier: Apache-2.0
#pragma once
// Asks the cache for an answer to a request: what is there, whether it may be used, and why not.
//
// **Thread safety:** loop-bound (counts in the worker's counters). **Source:** RFC 9111, section 4; the outcomes'
// names: RFC 9211.

#include <cstdint>

#include "cache/stored_response.h"
#include "http/request_head.h"
#include "txn/resource.h"
#include "txn/worker_state.h"

namespace telltale::txn {

struct Lookup {
  enum Outcome : std::uint8_t {
    kBypass,   // not looked up, and the answer is not stored
    kUriMiss,  // nothing is stored
    kStale,    // what is stored may not be used as it is
    kHit,
  };
  Outcome outcome = kBypass;
  bool only_if_cached = false;        // the client wants nothing else
  cache::StoredResponsePtr stored{};  // of kHit; shared: it may be evicted while it is sent
};

// Cost: no allocation; one look-up where the request may use the cache.
Lookup look_up(WorkerState& state, const TransactionSettings& settings, const http::RequestHead& request,
               const Resource& resource);

}  // namespace telltale::txn
