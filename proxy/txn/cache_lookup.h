// SPDX-License-Identifier: Apache-2.0
#pragma once
// Asks the cache for an answer to a request: what is there, whether it may be used, and why not.
//
// **Thread safety:** loop-bound (counts in the worker's counters). **Source:** RFC 9111, section 4; the outcomes'
// names: RFC 9211.

#include <cstdint>
#include <string_view>

#include "cache/storable.h"
#include "cache/stored_response.h"
#include "http/request_head.h"
#include "txn/resource.h"
#include "txn/worker_state.h"

namespace telltale::txn {

struct Lookup {
  enum Outcome : std::uint8_t {
    kHit,
    kBypass,    // not looked up, and the answer is not stored
    kMethod,    // the same, since the method is not GET or HEAD
    kUriMiss,   // nothing is stored
    kVaryMiss,  // something is stored, for other request fields
    kStale,     // what is stored must be validated first
    kRequest,   // the client wants it validated, or a fresher one
  };
  Outcome outcome = kBypass;
  bool only_if_cached = false;        // the client wants nothing else
  cache::RequestUse use{};
  std::uint32_t generation = 0;       // of the key in the cache; taken where the origin may be asked
  std::chrono::seconds age{0};        // of `stored`
  cache::StoredResponsePtr stored{};  // kHit: the answer. kStale, kRequest: what is to be validated. kVaryMiss: the
                                      // newest of the others. Shared: it may be evicted meanwhile

  bool hit() const noexcept { return outcome == kHit; }
  bool may_be_stored() const noexcept { return outcome != kBypass && outcome != kMethod; }
  // There is something that the origin may be asked about instead of for.
  bool may_validate() const noexcept;
};

// The token of RFC 9211: "hit", or what `fwd` says.
std::string_view outcome_token(Lookup::Outcome outcome) noexcept;

// `again`: after a wait for another request's answer; nothing is counted as a miss then.
// Cost: no allocation; one look-up where the request may use the cache.
Lookup look_up(WorkerState& state, const TransactionSettings& settings, const http::RequestHead& request,
               const Resource& resource, bool again = false);

}  // namespace telltale::txn
