// SPDX-License-Identifier: Apache-2.0
#pragma once
// A suspended coroutine together with the diag context it was suspended in, and why it went on. Everything in the
// proxy that suspends does so through one of these, so that there is one place that resumes: it opens a diag::Scope
// with that context, and no call site passes ids.
//
// **Thread safety:** loop-bound.

#include <cassert>
#include <coroutine>
#include <cstdint>
#include <utility>

#include <telltale/diag/scope.h>

namespace telltale::net {

// Why a suspended coroutine goes on.
enum class Wake : std::uint8_t {
  kReady,     // what it waited for has happened, or the connection is broken: the next call tells
  kTimeout,   // its deadline passed first
  kShutdown,  // the worker is stopping: finish without waiting again
};

class Waiter {
 public:
  Waiter() = default;
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  [[nodiscard]] bool waiting() const noexcept { return static_cast<bool>(coroutine_); }
  [[nodiscard]] Wake reason() const noexcept { return reason_; }

  // REQUIRES: !waiting(). The context must live until resume().
  void suspend(std::coroutine_handle<> coroutine) noexcept {
    assert(!waiting());
    coroutine_ = coroutine;
    context_ = diag::current_context();
  }

  // What await_resume() returns where the coroutine did not suspend at all.
  void complete(Wake reason) noexcept {
    coroutine_ = {};
    reason_ = reason;
  }

  // Runs the coroutine until it suspends again or ends. It may destroy this waiter.
  // REQUIRES: waiting().
  void resume(Wake reason) {
    reason_ = reason;
    const diag::Scope scope(context_);
    std::exchange(coroutine_, {}).resume();
  }

 private:
  std::coroutine_handle<> coroutine_;
  const diag::Context* context_ = nullptr;
  Wake reason_ = Wake::kReady;
};

}  // namespace telltale::net
