// SPDX-License-Identifier: Apache-2.0
#include "net/gate.h"

#include <cassert>

#include "net/worker.h"

namespace telltale::net {

Gate::~Gate() {
  assert(!waiter_.waiting());
}

bool Gate::pass(bool idle) noexcept {
  const Phase phase = worker_.phase();
  if (open_) {
    open_ = false;
    waiter_.complete(Wake::kReady);
    return true;
  }
  if (phase == Phase::kClosing || (phase == Phase::kDraining && idle)) {
    waiter_.complete(Wake::kShutdown);
    return true;
  }
  return false;
}

void Gate::suspend(SteadyTime deadline, bool idle, std::coroutine_handle<> coroutine) noexcept {
  waiter_.suspend(coroutine);
  deadline_ = deadline;
  idle_ = idle;
  worker_.waiting_.push_back(*this);
}

void Gate::open() noexcept {
  worker_.assert_on_thread();
  if (!waiter_.waiting()) {
    open_ = true;
  } else if (!open_) {
    open_ = true;
    worker_.make_ready(*this);
  }
}

}  // namespace telltale::net
