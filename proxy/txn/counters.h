// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a worker counts. Written by the worker alone, read by the control thread.
//
// **Thread safety:** one writer, many readers.

#include <atomic>
#include <cstdint>

namespace telltale::txn {

// Relaxed: each figure stands alone. One writer, so no read-modify-write is needed.
class Counter {
 public:
  void add(std::uint64_t n = 1) noexcept { value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed); }
  void sub(std::uint64_t n = 1) noexcept { add(std::uint64_t{0} - n); }
  std::uint64_t value() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

struct Counters {
  Counter connections_accepted;
  Counter connections_open;
  Counter connections_refused;  // over the limit
  Counter requests;
  Counter cache_hits;
  Counter cache_misses;   // looked up, not there
  Counter cache_stale;    // looked up, there, not fresh
  Counter cache_bypassed; // not looked up
  Counter cache_stored;
  Counter cache_validated;  // stale, and good again after the origin said 304
  Counter cache_collapsed;  // waited for another request's answer
  Counter origin_requests;
  Counter origin_connections;  // opened
  Counter failures;            // answered by the proxy itself with an error
};

}  // namespace telltale::txn
