// SPDX-License-Identifier: Apache-2.0
#include "net/poller.h"

#include <cassert>
#include <cerrno>
#include <system_error>
#include <utility>

#include <telltale/diag/level.h>

namespace telltale::net {
namespace {

constexpr std::uint32_t kBroken = EPOLLHUP | EPOLLERR;  // reported whether asked for or not

}  // namespace

Source::Source(Poller& poller, int fd) noexcept : poller_(poller), fd_(fd) {
  poller_.sources_.push_back(*this);
  ++poller_.source_count_;
}

Source::~Source() {
  close();
  --poller_.source_count_;
}

void Source::close() noexcept {
  assert(!read_.waiter.waiting() && !write_.waiter.waiting());
  poller_.leave(*this);
  poller_.strike_out(*this);
  broken_ = true;
}

bool Source::complete_at_once(Side& side, bool idle) noexcept {
  if (poller_.phase_ == Phase::kRunning || (poller_.phase_ == Phase::kDraining && !idle)) {
    if (broken_) {
      side.waiter.complete(Wake::kReady);
      return true;
    }
    return false;
  }
  side.waiter.complete(Wake::kShutdown);
  return true;
}

bool Source::suspend(Side& side, bool idle, std::coroutine_handle<> coroutine) noexcept {
  side.waiter.suspend(coroutine);
  side.idle = idle;
  // The end of the peer's data is watched along with its data: no call of its own, and peer_gone() is known while
  // nobody reads.
  std::uint32_t needed = 0;
  if (read_.waiter.waiting()) {
    needed |= EPOLLIN | (peer_gone_ ? 0U : EPOLLRDHUP);
  }
  if (write_.waiter.waiting()) {
    needed |= EPOLLOUT;
  }
  if ((watched_ & needed) == needed || poller_.watch(*this, needed)) {
    return true;
  }
  side.waiter.complete(Wake::kShutdown);
  return false;
}

Poller::Poller() : set_(::epoll_create1(EPOLL_CLOEXEC)) {
  if (!set_) {
    throw std::system_error(errno, std::generic_category(), "epoll_create1");
  }
}

Poller::~Poller() {
  assert(source_count_ == 0);
}

// A failure (memory, or the user's limit of watches) is this connection's alone: it is told to finish.
bool Poller::watch(Source& source, std::uint32_t events) noexcept {
  epoll_event change{};
  change.events = events;
  change.data.ptr = &source;
  ++control_calls_;
  if (::epoll_ctl(set_.get(), source.registered_ ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, source.fd_, &change) != 0) {
    diag::error("cannot watch a socket: {}", std::generic_category().message(errno));
    return false;
  }
  source.registered_ = true;
  source.watched_ = events;
  return true;
}

// Closing the descriptor would do the same, but not while a forked child still holds a copy: then events would go on
// to name a Source that is gone.
void Poller::leave(Source& source) noexcept {
  if (source.registered_) {
    ++control_calls_;
    ::epoll_ctl(set_.get(), EPOLL_CTL_DEL, source.fd_, nullptr);
    source.registered_ = false;
    source.watched_ = 0;
  }
}

void Poller::strike_out(const Source& source) noexcept {
  for (std::size_t i = position_; i < batch_count_; ++i) {
    if (batch_[i].data.ptr == &source) {
      batch_[i].data.ptr = nullptr;
    }
  }
  if (current_ == &source) {
    current_ = nullptr;
  }
}

std::size_t Poller::dispatch() {
  assert(batch_count_ == 0);
  const int taken = ::epoll_wait(set_.get(), batch_.data(), static_cast<int>(batch_.size()), 0);
  if (taken <= 0) {
    return 0;
  }
  batch_count_ = static_cast<std::size_t>(taken);
  for (position_ = 0; position_ < batch_count_; ++position_) {
    if (auto* const source = static_cast<Source*>(batch_[position_].data.ptr)) {
      deliver(*source, batch_[position_].events);
    }
  }
  batch_count_ = position_ = 0;
  return static_cast<std::size_t>(taken);
}

void Poller::deliver(Source& source, std::uint32_t events) {
  const bool broken = (events & kBroken) != 0;
  if (broken || (events & EPOLLRDHUP) != 0) {
    const bool was_gone = std::exchange(source.peer_gone_, true);
    if (source.watcher_ != nullptr && broken) {
      source.watcher_->peer_lost();
    } else if (source.watcher_ != nullptr && !was_gone) {
      source.watcher_->peer_ended();
    }
  }
  const bool read = source.read_.waiter.waiting() && (broken || (events & (EPOLLIN | EPOLLRDHUP)) != 0);
  const bool write = source.write_.waiter.waiting() && (broken || (events & EPOLLOUT) != 0);
  if (read || write) {
    wake(source, read, write, Wake::kReady);
  } else if (broken) {
    source.broken_ = true;
    leave(source);
  } else if (!watch(source, source.watched_ & ~events)) {
    source.broken_ = true;
    leave(source);
  }
}

void Poller::wake(Source& source, bool read, bool write, Wake reason) {
  assert(current_ == nullptr);
  current_ = &source;
  if (read) {
    source.read_.waiter.resume(reason);
  }
  if (write && current_ != nullptr && source.write_.waiter.waiting()) {
    source.write_.waiter.resume(reason);
  }
  current_ = nullptr;
}

void Poller::expire(SteadyTime now) {
  sources_.walk([&](Source& source) {
    if (source.look_at_ <= now) {
      source.look_at_ = kNever;
      if (source.watcher_ != nullptr) source.watcher_->look();
    }
    if (source.deadline_ <= now && (source.read_.waiter.waiting() || source.write_.waiter.waiting())) {
      source.deadline_ = kNever;
      wake(source, source.read_.waiter.waiting(), source.write_.waiter.waiting(), Wake::kTimeout);
    }
  });
}

void Poller::enter(Phase phase) {
  phase_ = phase;
  sources_.walk([&](Source& source) {
    const bool all = phase_ == Phase::kClosing;
    const bool read = source.read_.waiter.waiting() && (all || (phase_ == Phase::kDraining && source.read_.idle));
    const bool write = source.write_.waiter.waiting() && all;
    if (read || write) {
      wake(source, read, write, Wake::kShutdown);
    }
  });
}

}  // namespace telltale::net
