// SPDX-License-Identifier: Apache-2.0
#pragma once
// One thread of the proxy and its event loop: an Asio io_context for what is rare (tick, posts from other threads) and
// a Poller for sockets nested in it. A connection stays on its worker from accept to close.
//
// It holds no sessions: it knows who waits (Sources in its poller, Gates) and how many Detached coroutines of its
// thread have not ended. How it ends:
//
//   stop(drain)            | idle waits end with Wake::kShutdown: listeners, connections between requests
//   all coroutines ended   | run() returns
//   drain time over        | every wait ends with Wake::kShutdown, new waits at once
//   one second later       | run() returns with a warning if coroutines wait on something unknown here
//
// Streams and Gates must be destroyed before their Worker.
//
// **Thread safety:** loop-bound; post() and stop() are thread-safe. Before run(), the creating thread owns it.

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "net/clock.h"
#include "net/gate.h"
#include "net/intrusive_list.h"
#include "net/poller.h"

namespace telltale::net {

class Worker {
 public:
  struct Options {
    std::string name = "worker-0";  // the thread's name; the kernel keeps 15 bytes of it
    const Clock* clock = nullptr;   // null: system_clock()
    std::chrono::milliseconds tick{250};
  };

  // Errors: std::system_error if there are no descriptors.
  explicit Worker(Options options);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Runs the loop on the calling thread until it has stopped. Once only.
  void run();

  // Begins to stop; a later call may only shorten the drain time. Thread-safe.
  void stop(std::chrono::milliseconds drain = std::chrono::milliseconds{0});

  // Runs f on this worker, in the order of the posts of each thread, without a diag context. Never runs it within the
  // call. Functions still queued when run() returns are destroyed unrun. Thread-safe. No limit of its own: whoever
  // posts holds something that is limited (a suspended hook, a lookup). Cost: a lock, perhaps an allocation and a
  // write to wake the loop.
  void post(std::function<void()> f);

  struct Sleep {
    Gate gate;
    SteadyTime until;

    bool await_ready() noexcept;
    void await_suspend(std::coroutine_handle<> coroutine) noexcept;
    // True if the time has come, false if the worker is stopping.
    bool await_resume() const noexcept { return gate.reason() == Wake::kTimeout; }
  };
  // Resolution: the tick. co_await gives a bool, see above.
  [[nodiscard]] Sleep sleep_until(SteadyTime until) noexcept { return {Gate(*this), until}; }

  struct Yield {
    Gate gate;

    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> coroutine) noexcept;
    void await_resume() const noexcept {}
  };
  // Lets everything else that is ready run first. Goes on whether or not the worker is stopping.
  [[nodiscard]] Yield yield() noexcept { return {Gate(*this)}; }

  // The times of this turn of the loop. Cost: a load.
  [[nodiscard]] SteadyTime now() const noexcept { return now_; }
  [[nodiscard]] WallTime wall_now() const noexcept { return wall_now_; }

  // Where the worker is on its way to its end.
  [[nodiscard]] Phase phase() const noexcept { return poller_.phase(); }
  [[nodiscard]] bool stopping() const noexcept { return phase() != Phase::kRunning; }

  // What the timer does every tick: deadlines and the end of the drain time. Public for tests with a manual clock,
  // which post it. REQUIRES: not called from a coroutine.
  void tick();

  [[nodiscard]] const std::string& name() const noexcept { return options_.name; }
  [[nodiscard]] Poller& poller() noexcept { return poller_; }

  // The worker whose run() is on this thread's stack, or null.
  [[nodiscard]] static Worker* current() noexcept { return current_; }
  // Stops a debug build where a loop-bound object is used from another thread.
  void assert_on_thread() const noexcept;

 private:
  friend class Gate;
  struct Loop;  // the Asio part

  void begin_stop(SteadyTime drain_until);
  void enter(Phase phase);
  void refresh_now() noexcept;
  void wait_for_poller();
  void wait_for_tick();
  void drain_mailbox();
  void run_ready();
  void make_ready(Gate& gate) noexcept;
  void end_if_done();

  // Constant after construction.
  const Options options_;
  const Clock& clock_;

  // Loop-bound.
  Poller poller_;
  SteadyTime now_;
  WallTime wall_now_;
  IntrusiveList<Gate> waiting_;  // gates with a waiter, shut
  IntrusiveList<Gate> ready_;    // gates with a waiter, open
  bool ready_scheduled_ = false;
  SteadyTime drain_until_ = kNever;
  std::vector<std::function<void()>> mailbox_turn_;  // being run

  std::unique_ptr<Loop> loop_;  // its mailbox has a lock of its own

  static thread_local constinit Worker* current_;
};

}  // namespace telltale::net
