// SPDX-License-Identifier: Apache-2.0
#pragma once
// Listening sockets: one for each worker on the same address, and the loop that accepts from one of them.
//
// The kernel spreads connections over the sockets of an SO_REUSEPORT group, and lets any process of the same user
// join it. A second daemon must be refused instead, so the first socket of an address binds and listens without the
// option, which exactly one process can do; only then is the option set on it, and the other workers' sockets join.
//
// Out of descriptors or memory: one warning, accepting pauses for a tick at a time (clients wait in the kernel's
// queue), and one note when the queue has been emptied again.
//
// **Thread safety:** listen_on() thread-safe; Listener loop-bound, but made and started by any thread.

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "net/endpoint.h"
#include "net/poller.h"
#include "net/task.h"
#include "net/unique_fd.h"

namespace telltale::net {

class Worker;

// `count` listening sockets on one address. Port 0 takes a free one: see local_endpoint(). An IPv6 address does not
// take IPv4 clients. Accepted sockets inherit TCP_NODELAY.
// Errors: a sentence with address and reason.
[[nodiscard]] tl::expected<std::vector<UniqueFd>, std::string> listen_on(const Endpoint& address, std::size_t count);

// Where a socket is bound; 0.0.0.0:0 if nowhere.
[[nodiscard]] Endpoint local_endpoint(int fd) noexcept;

class Listener {
 public:
  // Connections taken in one turn of the loop, so that a flood of them does not starve those that are served.
  static constexpr int kAcceptsPerTurnMax = 64;

  // Called on the worker with a connected, non-blocking socket; without a diag context.
  using OnAccept = std::function<void(UniqueFd socket, const Endpoint& peer)>;

  // Takes a listening socket. Must outlive the worker's run(), and be destroyed before the worker.
  Listener(Worker& worker, UniqueFd socket, OnAccept on_accept);

  // Begins to accept as soon as the worker runs. The socket is closed when the worker begins to stop. Once only.
  void start();

  [[nodiscard]] const Endpoint& local() const noexcept { return local_; }

 private:
  enum class Turn { kDone, kExhausted, kFailed };

  Detached run();
  Turn accept_some();

  Worker& worker_;
  UniqueFd socket_;
  const Endpoint local_;
  const OnAccept on_accept_;
  Source source_;
  bool paused_ = false;
};

}  // namespace telltale::net
