// SPDX-License-Identifier: Apache-2.0
#include "txn/follow.h"

#include <telltale/diag/capture.h>

namespace telltale::txn {

void Follow::begin(std::uint64_t lease, Matches matches) {
  std::lock_guard guard(mutex_);
  now_ = {State::kWaiting, lease, 0};
  matches_ = std::make_shared<const Matches>(std::move(matches));
  waiting_.store(true, std::memory_order_relaxed);
}

void Follow::stop() {
  std::lock_guard guard(mutex_);
  now_ = {};
  matches_ = nullptr;
  waiting_.store(false, std::memory_order_relaxed);
}

Follow::Now Follow::now() const {
  std::lock_guard guard(mutex_);
  return now_;
}

bool Follow::claim(const http::RequestHead& request, diag::Context& context) {
  std::shared_ptr<const Matches> matches;  // called without the lock: other workers go on
  std::uint64_t lease = 0;
  {
    std::lock_guard guard(mutex_);
    if (now_.state != State::kWaiting) return false;
    matches = matches_;
    lease = now_.lease;
  }
  if (!(*matches)(request, context.client)) return false;
  std::lock_guard guard(mutex_);
  if (now_.state != State::kWaiting || now_.lease != lease) return false;
  now_.state = State::kUnderWay;
  now_.transaction = context.transaction;
  waiting_.store(false, std::memory_order_relaxed);
  diag::capture_transaction(context.transaction);
  context.followed = lease;
  return true;
}

void Follow::end(std::uint64_t transaction) {
  std::lock_guard guard(mutex_);
  if (now_.state == State::kUnderWay && now_.transaction == transaction) now_.state = State::kEnded;
}

}  // namespace telltale::txn
