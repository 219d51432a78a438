// SPDX-License-Identifier: Apache-2.0
#pragma once
// The Cache-Status of an answer: in a field's form what the debug lines under "cache" say in words.
//
// **Thread safety:** pure functions. **Source:** RFC 9211.

#include <cstdint>
#include <string>

#include "txn/cache_lookup.h"

namespace telltale::txn {

struct CacheStatus {
  Lookup::Outcome outcome = Lookup::kBypass;
  std::uint16_t origin_status = 0;    // of the origin's answer; 0: it was not asked
  bool stored = false;                // the answer is being stored
  bool collapsed = false;             // it waited for another request's answer
  const cache::StoredResponse* used = nullptr;  // what the answer is made of, if it is stored
  std::chrono::seconds age{0};        // of that
};

// "telltale; hit; ttl=59", "telltale; fwd=stale; fwd-status=304; stored; ttl=60".
std::string cache_status(const CacheStatus& status);

}  // namespace telltale::txn
