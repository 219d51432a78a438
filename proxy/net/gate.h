// SPDX-License-Identifier: Apache-2.0
#pragma once
// A place where one coroutine waits for something that is not a socket: a plugin's re-enable, a collapsed fetch, a
// free origin connection, a resolver's answer, a time. Whoever makes it happen opens the gate, on the same worker.
//
//   open() before wait()  | wait() does not suspend (a plugin re-enabled from within its own callback)
//   open() after wait()   | the coroutine goes on in the next turn of the loop, in the order of the open() calls:
//                         | never within open(), so a chain of openings does not grow the stack
//   the deadline passes   | Wake::kTimeout
//   the worker stops      | Wake::kShutdown (an idle wait when it begins to, others when its drain time is over)
//
// A gate passes one wait and is shut again. Other threads open it through Worker::post().
//
// **Thread safety:** loop-bound.

#include "net/clock.h"
#include "net/intrusive_list.h"
#include "net/waiter.h"

namespace telltale::net {

class Worker;

class Gate : private Link {
 public:
  explicit Gate(Worker& worker) noexcept : worker_(worker) {}
  // REQUIRES: nobody waits (the coroutine that waits usually owns the gate).
  ~Gate();

  struct Wait {
    Gate& gate;
    SteadyTime deadline;
    bool idle;

    bool await_ready() const noexcept { return gate.pass(idle); }
    void await_suspend(std::coroutine_handle<> coroutine) const noexcept { gate.suspend(deadline, idle, coroutine); }
    [[nodiscard]] Wake await_resume() const noexcept { return gate.reason(); }
  };

  // co_await gives a Wake. Resolution of the deadline: the worker's tick. Cost: no allocation.
  [[nodiscard]] Wait wait(SteadyTime deadline = kNever, bool idle = false) noexcept { return {*this, deadline, idle}; }

  // May be called again before the waiter has gone on: one passage.
  void open() noexcept;

  [[nodiscard]] bool waiting() const noexcept { return waiter_.waiting(); }
  // How the last wait ended.
  [[nodiscard]] Wake reason() const noexcept { return waiter_.reason(); }

 private:
  friend class Worker;
  template <class T>
  friend class IntrusiveList;
  bool pass(bool idle) noexcept;
  void suspend(SteadyTime deadline, bool idle, std::coroutine_handle<> coroutine) noexcept;

  Worker& worker_;
  Waiter waiter_;
  SteadyTime deadline_ = kNever;
  bool idle_ = false;
  bool open_ = false;
};

}  // namespace telltale::net
