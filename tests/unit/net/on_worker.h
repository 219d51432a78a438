// SPDX-License-Identifier: Apache-2.0
#pragma once
// A Worker on a thread of its own, stopped and joined at the end; and pairs of connected sockets for it.

#include <array>
#include <chrono>
#include <filesystem>
#include <future>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include <poll.h>
#include <sys/socket.h>

#include "net/manual_clock.h"
#include "net/stream.h"
#include "net/worker.h"

namespace telltale::net::test {

class OnWorker {
 public:
  explicit OnWorker(std::string name = "worker-0") : worker_({.name = std::move(name), .clock = &clock_}) {
    thread_ = std::thread([this] { worker_.run(); });
  }
  ~OnWorker() { join(); }

  void join() {
    if (thread_.joinable()) {
      worker_.stop();
      thread_.join();
    }
  }
  // Waits for run() to return by itself.
  void wait() { thread_.join(); }

  // Runs f on the worker and waits for its end.
  template <class F>
  auto call(F f) {
    std::packaged_task<decltype(f())()> task(std::move(f));
    auto result = task.get_future();
    worker_.post([&] { task(); });
    return result.get();
  }
  // As call(), and returns after every turn that was scheduled by then.
  template <class F>
  void call_and_settle(F f) {
    call(std::move(f));
    settle();
  }
  void settle() {
    for (int i = 0; i < 3; ++i) {
      call([] {});
    }
  }
  // Moves the clock and does what the tick does.
  void advance(std::chrono::milliseconds by) {
    clock_.advance(by);
    call_and_settle([this] { worker_.tick(); });
  }

  Worker& worker() { return worker_; }
  ManualClock& clock() { return clock_; }

 private:
  ManualClock clock_;
  Worker worker_;
  std::thread thread_;
};

// Two connected sockets: ours non-blocking, for a Stream; the peer's blocking, for the test.
struct SocketPair {
  SocketPair() {
    std::array<int, 2> fds;
    ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds.data());
    ours = UniqueFd(fds[0]);
    peer = UniqueFd(fds[1]);
  }
  UniqueFd ours;
  UniqueFd peer;
};

inline void write_text(const UniqueFd& fd, std::string_view text) {
  (void)!::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL);
}

inline std::size_t open_descriptors() {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator{}));
}

}  // namespace telltale::net::test
