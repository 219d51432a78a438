// SPDX-License-Identifier: Apache-2.0
#pragma once
// A worker's connections to origins: idle ones by origin, newest first, and how new ones are made.
//
// Bounded: at most idle_max idle connections (the oldest goes), none idle for longer than idle_time_max.
// Connections in use are bounded by the transactions that use them.
//
// **Thread safety:** loop-bound.

#include <chrono>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>

#include <tl/expected.hpp>

#include "http/failure.h"
#include "net/task.h"
#include "net/worker.h"
#include "origin/connection.h"

namespace telltale::origin {

struct PoolSettings {
  std::size_t idle_max = 256;
  std::chrono::seconds idle_time_max{120};
  std::chrono::seconds connect_max{30};  // name look-up and all addresses together
};

using ConnectionPtr = std::unique_ptr<Connection>;

struct Unreachable {
  http::Failure failure;
  std::string detail;  // for debug lines
};

class Pool {
 public:
  // The settings may be changed in place; all must outlive the pool.
  Pool(net::Worker& worker, http1::BlockPool& blocks, const PoolSettings& settings)
      : worker_(worker), blocks_(blocks), settings_(settings) {}

  // An idle connection to this origin, or null.
  ConnectionPtr take_idle(const Authority& origin);
  // A new one. Tries each address of a name in turn.
  net::Task<tl::expected<ConnectionPtr, Unreachable>> connect(Authority origin);
  // For reuse. REQUIRES: its exchange is over, nothing is left unread.
  void give_back(const Authority& origin, ConnectionPtr connection);

  // Closes what has been idle for too long; call it about once a second.
  void expire();
  void close_all() { idle_.clear(); count_ = 0; }

  std::size_t idle_count() const noexcept { return count_; }

 private:
  struct Hash {
    std::size_t operator()(const Authority& a) const noexcept { return std::hash<std::string>{}(a.host) * 31 + a.port; }
  };
  using Idle = std::list<ConnectionPtr>;  // front = newest

  void drop_oldest();

  net::Worker& worker_;
  http1::BlockPool& blocks_;
  const PoolSettings& settings_;
  std::unordered_map<Authority, Idle, Hash> idle_;
  std::size_t count_ = 0;
};

}  // namespace telltale::origin
