// SPDX-License-Identifier: Apache-2.0
#pragma once
// The proxy's coroutine types. `Task<T>` is a child: it starts when it is awaited, and its awaiter goes on when it
// has returned. `Detached` is a root: it starts when it is called and owns itself (a client session).
//
// Awaiting never grows the stack. The usual form, symmetric transfer, is a tail call in optimised g++ builds
// only: elsewhere a loop that awaits a million children which return at once overflows. Here the awaiter runs the
// child itself and suspends only if the child did:
//
//   child returned within resume()  ->  await_suspend returns false, the parent goes on, in a loop
//   child suspended                 ->  the child is armed; its end resumes the parent
//   no child: Task::ready(value)    ->  the parent goes on with the value; a function that seldom has to wait needs
//                                       no frame where it does not
//
// Proof: "Task: a million children that return at once do not grow the stack" in tests/unit/net/task_test.cc, which
// also runs at -O0 and under the sanitizers. Exceptions do not cross: one that leaves a coroutine's body ends the
// process. Frames come from the thread's FrameList.
//
// **Thread safety:** loop-bound: a coroutine starts, resumes and ends on one thread.
// **Source:** spec/data-path.md, pitfalls.

#include <cassert>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include <telltale/diag/scope.h>

#include "net/frame_list.h"

namespace telltale::net {

namespace internal {

struct FramePromise {
  static void* operator new(std::size_t bytes) { return FrameList::allocate(bytes); }
  static void operator delete(void* frame, std::size_t bytes) noexcept { FrameList::release(frame, bytes); }
  [[noreturn]] void unhandled_exception() noexcept { std::terminate(); }
};

struct TaskPromiseBase : FramePromise {
  std::coroutine_handle<> parent;
  bool armed = false;

  std::suspend_always initial_suspend() noexcept { return {}; }

  struct Final {
    bool await_ready() noexcept { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> self) noexcept {
      // The parent may destroy this frame while it runs, so nothing is touched afterwards.
      if (self.promise().armed) {
        self.promise().parent.resume();
      }
    }
    void await_resume() noexcept {}
  };
  Final final_suspend() noexcept { return {}; }
};

template <class T>
struct TaskPromise : TaskPromiseBase {
  std::optional<T> value;
  template <class U>
  void return_value(U&& result) {
    value.emplace(std::forward<U>(result));
  }
  T take() { return std::move(*value); }
};

template <>
struct TaskPromise<void> : TaskPromiseBase {
  void return_void() noexcept {}
  void take() noexcept {}
};

}  // namespace internal

template <class T = void>
class [[nodiscard]] Task {
 public:
  struct promise_type : internal::TaskPromise<T> {
    Task get_return_object() noexcept { return Task{std::coroutine_handle<promise_type>::from_promise(*this)}; }
  };

  using Value = std::conditional_t<std::is_void_v<T>, std::monostate, T>;
  // A task that has ended already.
  static Task ready(Value value = {}) noexcept {
    Task task{std::coroutine_handle<promise_type>{}};
    task.value_.emplace(std::move(value));
    return task;
  }

  Task(Task&& other) noexcept : child_(std::exchange(other.child_, {})), value_(std::move(other.value_)) {}
  Task& operator=(Task&&) = delete;
  // A task that was never awaited, or that is still suspended, is destroyed with everything in its frame.
  ~Task() {
    if (child_) {
      child_.destroy();
    }
  }

  struct Awaiter {
    Task& task;

    bool await_ready() const noexcept { return !task.child_; }
    bool await_suspend(std::coroutine_handle<> parent) const {
      const std::coroutine_handle<promise_type> child = task.child_;
      child.promise().parent = parent;
      child.resume();
      if (child.done()) {
        return false;
      }
      child.promise().armed = true;
      return true;
    }
    T await_resume() const {
      if constexpr (std::is_void_v<T>) {
        return;
      } else {
        return task.child_ ? task.child_.promise().take() : std::move(*task.value_);
      }
    }
  };
  // REQUIRES: awaited once.
  Awaiter operator co_await() && noexcept {
    assert(child_ ? !child_.done() : value_.has_value());
    return Awaiter{*this};
  }

 private:
  explicit Task(std::coroutine_handle<promise_type> child) noexcept : child_(child) {}
  std::coroutine_handle<promise_type> child_;
  std::optional<Value> value_;  // of a task without a child
};

// Runs until its first suspension within the call; its frame frees itself at the end. Whatever diag scope the body
// leaves open when it suspends is closed for the caller: the caller's own is current again after the call.
class Detached {
 public:
  struct promise_type : internal::FramePromise {
    promise_type() noexcept { ++live_; }
    ~promise_type() { --live_; }
    Detached get_return_object() noexcept { return Detached{}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
  };

  Detached(const Detached&) = delete;
  Detached& operator=(const Detached&) = delete;

  // How many began on this thread and have not ended. A worker that stops waits for them.
  [[nodiscard]] static std::size_t live() noexcept { return live_; }

 private:
  Detached() noexcept : caller_(diag::current_context()) {}

  diag::Scope caller_;
  static inline thread_local constinit std::size_t live_ = 0;
};

}  // namespace telltale::net
