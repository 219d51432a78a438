// SPDX-License-Identifier: Apache-2.0
//
// Each thing Asio calls here is one turn: it reads the clock, does its work, and looks whether the worker is done.
// The only place in the proxy's data path that includes Asio.
#include "net/worker.h"

#include <cassert>
#include <mutex>
#include <utility>

#include <pthread.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <telltale/diag/dbg.h>
#include <telltale/diag/level.h>
#include <telltale/diag/scope.h>

#include "net/frame_list.h"
#include "net/task.h"

namespace telltale::net {
namespace {

namespace asio = boost::asio;
using Executor = asio::io_context::executor_type;

constexpr DbgCtl net_dbg{"net"};
constexpr std::chrono::seconds kStuckGrace{1};

}  // namespace

struct Worker::Loop {
  explicit Loop(int poller_fd)
      : context(1), poller_readable(context.get_executor(), poller_fd), tick_timer(context.get_executor()) {}
  // The descriptor is the poller's.
  ~Loop() { (void)poller_readable.release(); }

  asio::io_context context;
  asio::posix::basic_stream_descriptor<Executor> poller_readable;
  asio::basic_waitable_timer<std::chrono::steady_clock, asio::wait_traits<std::chrono::steady_clock>, Executor>
      tick_timer;

  std::mutex mailbox_lock;
  std::vector<std::function<void()>> mailbox;  // guarded by mailbox_lock
};

thread_local constinit Worker* Worker::current_ = nullptr;

Worker::Worker(Options options)
    : options_(std::move(options)),
      clock_(options_.clock != nullptr ? *options_.clock : system_clock()),
      loop_(std::make_unique<Loop>(poller_.fd())) {
  refresh_now();
}

Worker::~Worker() = default;

void Worker::run() {
  assert(current_ == nullptr);
  current_ = this;
  ::pthread_setname_np(::pthread_self(), options_.name.substr(0, 15).c_str());
  {
    const FrameList::Open frames;
    wait_for_poller();
    wait_for_tick();
    loop_->context.run();
  }
  current_ = nullptr;
}

void Worker::wait_for_poller() {
  loop_->poller_readable.async_wait(asio::posix::descriptor_base::wait_read, [this](boost::system::error_code error) {
    if (error) {
      return;
    }
    refresh_now();
    poller_.dispatch();
    wait_for_poller();
    end_if_done();
  });
}

void Worker::wait_for_tick() {
  loop_->tick_timer.expires_after(options_.tick);
  loop_->tick_timer.async_wait([this](boost::system::error_code error) {
    if (error) {
      return;
    }
    tick();
    wait_for_tick();
    end_if_done();
  });
}

void Worker::refresh_now() noexcept {
  now_ = clock_.steady_now();
  wall_now_ = clock_.system_now();
}

void Worker::tick() {
  assert_on_thread();
  refresh_now();
  poller_.expire(now_);
  waiting_.walk([this](Gate& gate) {
    if (gate.deadline_ <= now_) {
      gate.unlink();
      gate.waiter_.resume(Wake::kTimeout);
    }
  });
  if (phase() == Phase::kDraining && drain_until_ <= now_) {
    enter(Phase::kClosing);
  }
}

void Worker::post(std::function<void()> f) {
  bool first;
  {
    const std::lock_guard guard(loop_->mailbox_lock);
    first = loop_->mailbox.empty();
    loop_->mailbox.push_back(std::move(f));
  }
  if (first) {
    asio::post(loop_->context, [this] { drain_mailbox(); });
  }
}

// What is posted meanwhile waits for the next turn, so a function that posts itself again starves nobody.
void Worker::drain_mailbox() {
  {
    const std::lock_guard guard(loop_->mailbox_lock);
    mailbox_turn_.swap(loop_->mailbox);
  }
  refresh_now();
  for (std::function<void()>& slot : mailbox_turn_) {
    const std::function<void()> f = std::move(slot);
    const diag::Scope none(nullptr);
    f();
  }
  mailbox_turn_.clear();
  end_if_done();
}

void Worker::make_ready(Gate& gate) noexcept {
  ready_.push_back(gate);
  if (!std::exchange(ready_scheduled_, true)) {
    asio::post(loop_->context, [this] {
      ready_scheduled_ = false;
      refresh_now();
      run_ready();
      end_if_done();
    });
  }
}

void Worker::run_ready() {
  IntrusiveList<Gate> turn;
  ready_.move_to(turn);
  while (!turn.empty()) {
    Gate& gate = turn.front();
    gate.unlink();
    gate.open_ = false;
    gate.waiter_.resume(Wake::kReady);
  }
}

bool Worker::Sleep::await_ready() noexcept {
  if (until <= gate.worker_.now()) {
    gate.waiter_.complete(Wake::kTimeout);
    return true;
  }
  return gate.pass(true);
}

void Worker::Sleep::await_suspend(std::coroutine_handle<> coroutine) noexcept { gate.suspend(until, true, coroutine); }

void Worker::Yield::await_suspend(std::coroutine_handle<> coroutine) noexcept {
  gate.suspend(kNever, false, coroutine);
  gate.open();
}

void Worker::stop(std::chrono::milliseconds drain) {
  post([this, drain] { begin_stop(now_ + drain); });
}

void Worker::begin_stop(SteadyTime drain_until) {
  drain_until_ = std::min(drain_until_, drain_until);
  if (phase() == Phase::kRunning) {
    Dbg(net_dbg, "{} stops: {} coroutines, {} sockets", options_.name, Detached::live(), poller_.source_count());
    enter(Phase::kDraining);
  }
  if (phase() == Phase::kDraining && drain_until_ <= now_) {
    enter(Phase::kClosing);
  }
}

void Worker::enter(Phase phase) {
  poller_.enter(phase);
  waiting_.walk([this](Gate& gate) {
    if (this->phase() == Phase::kClosing || gate.idle_) {
      gate.unlink();
      gate.waiter_.resume(Wake::kShutdown);
    }
  });
}

void Worker::end_if_done() {
  if (!stopping()) {
    return;
  }
  if (Detached::live() == 0) {
    loop_->context.stop();
  } else if (phase() == Phase::kClosing && now_ >= drain_until_ + kStuckGrace) {
    diag::warning("{} ends although {} coroutines wait for something that did not come", options_.name,
                  Detached::live());
    loop_->context.stop();
  }
}

void Worker::assert_on_thread() const noexcept {
  assert(current_ == this || current_ == nullptr);
}

}  // namespace telltale::net
