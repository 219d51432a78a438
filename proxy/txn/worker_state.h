// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the transactions of one worker share: its runtime, its origin connections, its counters, and the
// cache and the flights, which all workers share.
//
// **Thread safety:** loop-bound but for counters (one writer), the cache and the flights (thread-safe).

#include <atomic>
#include <cstdint>

#include "cache/ram_cache.h"
#include "http1/input_buffer.h"
#include "http1/session.h"
#include "http2/session_settings.h"
#include "http2/worker_part.h"
#include "net/worker.h"
#include "origin/pool.h"
#include "txn/counters.h"
#include "txn/flight_table.h"
#include "txn/follow.h"
#include "txn/hooks.h"
#include "txn/runtime.h"

namespace telltale::txn {

// Ids for connections and transactions, unique in the process and small enough to read. Workers take them in
// blocks, so that they seldom meet.
class IdSource {
 public:
  explicit IdSource(std::atomic<std::uint64_t>& next_block) : next_block_(next_block) {}
  std::uint64_t next() noexcept {
    if (next_ % kBlock == 0) next_ = next_block_.fetch_add(1, std::memory_order_relaxed) * kBlock;
    return ++next_;
  }

 private:
  static constexpr std::uint64_t kBlock = 100;
  std::atomic<std::uint64_t>& next_block_;  // shared by all workers; orders nothing
  std::uint64_t next_ = 0;
};

struct WorkerState {
  WorkerState(net::Worker& w, cache::RamCache& c, FlightTable& f, const HookTable& h, RuntimePtr r, std::size_t head_bytes_max,
              std::atomic<std::uint64_t>& connection_ids, std::atomic<std::uint64_t>& transaction_ids)
      : worker(w), cache(c), flights(f), hooks(h), runtime(std::move(r)), blocks(head_bytes_max), origins(w, blocks, origin_settings),
        connections(connection_ids), transactions(transaction_ids) {}

  net::Worker& worker;
  cache::RamCache& cache;
  FlightTable& flights;
  const HookTable& hooks;
  RuntimePtr runtime;

  http1::SessionSettings session_settings;
  http2::SessionSettings http2_settings;
  http1::HeadLimits response_limits;
  origin::PoolSettings origin_settings;
  std::size_t connections_max = 10000;
  Follow* follow = nullptr;  // all workers'; null: nobody can follow

  http1::BlockPool blocks;
  http2::WorkerPart http2;
  origin::Pool origins;
  IdSource connections;
  IdSource transactions;
  Counters counters;
};

}  // namespace telltale::txn
