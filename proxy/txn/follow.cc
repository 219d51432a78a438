// SPDX-License-Identifier: Apache-2.0
#include "txn/follow.h"

#include <telltale/diag/capture.h>

namespace telltale::txn {

void Follow::begin(std::uint64_t lease, Matches matches, Wanted wanted) {
  std::lock_guard guard(mutex_);
  now_ = {State::kWaiting, lease, 0, {}};
  matches_ = std::make_shared<const Matches>(std::move(matches));
  wanted_ = std::move(wanted);
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
  context.followed = lease;
  if (!wanted_.streams()) return true;
  now_.state = State::kUnderWay;
  now_.transaction = context.transaction;
  waiting_.store(false, std::memory_order_relaxed);
  diag::capture_transaction(context.transaction);
  return true;
}

void Follow::end(const diag::Context& context, End end) {
  std::lock_guard guard(mutex_);
  const bool ours = now_.lease == context.followed;
  if (ours && now_.state == State::kUnderWay && now_.transaction == context.transaction) {
    now_.state = State::kEnded;
    return;
  }
  const bool show = ours && now_.state == State::kWaiting && wanted_.fits(end);
  // Before the state is told: who then asks for the lines waits for these too.
  diag::release_held(context.transaction, show);
  if (!show) return;
  now_.transaction = context.transaction;
  now_.shown.push_back({context.transaction, end});
  if (now_.shown.size() < wanted_.count) return;
  now_.state = State::kEnded;
  waiting_.store(false, std::memory_order_relaxed);
}

}  // namespace telltale::txn
