// SPDX-License-Identifier: Apache-2.0
#pragma once
// What transactions obey: rules and settings, one immutable set. A change of configuration gives every worker
// another set; a transaction keeps the one it began with.
//
// **Thread safety:** immutable. Each worker has a copy of its own, so that counting its users stays on the
// worker's cache line.

#include <chrono>
#include <cstdint>
#include <memory>

#include "cache/freshness.h"
#include "remap/remap_table.h"

namespace telltale::txn {

struct TransactionSettings {
  bool cache_enabled = true;
  bool pristine_host = false;  // the client's Host goes to the origin
  bool request_via = true;
  bool response_via = true;
  bool cache_status = false;   // answers have a Cache-Status field
  std::size_t object_bytes_max = 8 * 1024 * 1024;     // of stored content
  std::size_t variants_max = 16;                      // of one key
  cache::Heuristic heuristic;                         // lifetimes that origins do not say
  std::chrono::seconds collapse_max{5};               // how long one waits for another's answer; 0: nobody does
  std::size_t collapse_waiters_max = 1024;            // for one answer
  std::chrono::seconds origin_inactivity_max{30};     // without a byte moving, in either direction
};

struct Runtime {
  std::shared_ptr<const remap::RemapTable> remap;  // shared by all workers
  TransactionSettings settings;
};

using RuntimePtr = std::shared_ptr<const Runtime>;

}  // namespace telltale::txn
