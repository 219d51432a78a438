// SPDX-License-Identifier: Apache-2.0
#pragma once
// One worker of the server: its loop and thread, its listening sockets, the sessions it serves.
//
// **Thread safety:** made, configured and joined by the main thread; everything between runs on its own.

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "net/listener.h"
#include "net/worker.h"
#include "txn/transaction.h"
#include "txn/worker_state.h"

namespace telltale::server {

// What all workers share.
struct Shared {
  explicit Shared(std::size_t cache_bytes) : cache(cache_bytes) {}
  cache::RamCache cache;
  txn::FlightTable flights;
  txn::HookTable hooks;  // constant once workers run
  txn::Follow follow;
  std::atomic<std::uint64_t> connection_ids{0};
  std::atomic<std::uint64_t> transaction_ids{0};
};

class WorkerThread {
 public:
  // `sockets` are listening. Errors: std::system_error if there are no descriptors.
  WorkerThread(std::string name, Shared& shared, txn::RuntimePtr runtime, std::size_t head_bytes_max,
               std::vector<net::UniqueFd> sockets);
  // REQUIRES: joined, or never started.
  ~WorkerThread();

  void start();
  void stop(std::chrono::milliseconds drain) { worker_.stop(drain); }
  void join();

  // Runs `change` on the worker and returns when it has run. False: the worker has ended.
  // REQUIRES: not called on the worker.
  bool change(std::function<void(txn::WorkerState&)> change);

  const txn::Counters& counters() const noexcept { return state_.counters; }
  std::string listeners() const;

 private:
  void accept(net::UniqueFd socket, const net::Endpoint& peer);
  net::Detached serve(std::unique_ptr<net::Stream> stream, std::uint64_t connection_id);
  net::Task<void> serve_http2(std::unique_ptr<net::Stream> stream, std::uint64_t connection_id, std::string received);
  net::Detached keep_house();

  net::Worker worker_;
  txn::WorkerState state_;
  txn::TransactionHandler handler_;
  std::vector<std::unique_ptr<net::Listener>> listeners_;
  std::thread thread_;
  bool at_limit_ = false;  // connections_max: warned once until there is room again
};

}  // namespace telltale::server
