// SPDX-License-Identifier: Apache-2.0
#pragma once
// One worker's epoll set for stream and listening sockets. It is nested in the worker's Asio loop: Asio watches the
// set's own descriptor and calls dispatch(). A Source is one socket in it, with at most one coroutine waiting to read
// and one waiting to write. Nothing above `net` knows this file; see Stream.
//
// What is watched changes only when it must, so a kept-alive connection costs no epoll_ctl:
//
//   somebody begins to wait  | watched already: no call      | else: what the waiters need, no more
//   an event has its waiter  | the waiter is resumed, the socket stays watched
//   an event has no waiter   | that event is no longer watched (level-triggered: it would come for ever)
//   broken, and no waiter    | the socket leaves the set; later waits are ready at once
//
// A Source may be destroyed at any moment, also from a coroutine that this set resumes: events later in the batch
// that name it are struck out.
//
// **Thread safety:** loop-bound.
// **Source:** spec/data-path.md, section 4 and pitfalls.

#include <array>
#include <cstddef>
#include <cstdint>

#include <sys/epoll.h>

#include "net/clock.h"
#include "net/intrusive_list.h"
#include "net/unique_fd.h"
#include "net/waiter.h"

namespace telltale::net {

class Poller;

// Life of a worker, as those who wait on it feel it.
enum class Phase : std::uint8_t {
  kRunning,
  kDraining,  // idle waits end with Wake::kShutdown; others may finish their exchange
  kClosing,   // every wait ends with Wake::kShutdown, new ones at once
};

// Told what the set sees of a peer, also while nobody waits for the socket. Within the calls no coroutine may be
// resumed, and the source neither closed nor destroyed.
class PeerWatcher {
 public:
  // It sends no more. Perhaps it still reads, perhaps it is gone: TCP does not say.
  virtual void peer_ended() noexcept = 0;
  // The connection is broken: what is sent does not arrive.
  virtual void peer_lost() noexcept = 0;
  // The time that was given to look_at() has come; resolution: the worker's tick.
  virtual void look() noexcept = 0;

 protected:
  ~PeerWatcher() = default;
};

class Source : public Link {
 public:
  // REQUIRES: fd is non-blocking and outlives this (or close() comes first). Costs nothing until somebody waits.
  Source(Poller& poller, int fd) noexcept;
  // REQUIRES: nobody waits.
  ~Source();

  struct Side {
    Waiter waiter;
    bool idle = false;
  };

  struct Wait {
    Source& source;
    Side& side;
    bool idle;

    bool await_ready() const noexcept { return source.complete_at_once(side, idle); }
    bool await_suspend(std::coroutine_handle<> coroutine) const noexcept {
      return source.suspend(side, idle, coroutine);
    }
    [[nodiscard]] Wake await_resume() const noexcept { return side.waiter.reason(); }
  };

  // REQUIRES: nobody waits for the same direction. idle: nothing is lost if the wait ends when the worker begins to
  // stop (between requests).
  [[nodiscard]] Wait readable(bool idle = false) noexcept { return {*this, read_, idle}; }
  [[nodiscard]] Wait writable() noexcept { return {*this, write_, false}; }

  // When it passes, whoever waits is resumed with kTimeout and the deadline is gone. Resolution: the worker's tick.
  void set_deadline(SteadyTime deadline) noexcept { deadline_ = deadline; }
  [[nodiscard]] SteadyTime deadline() const noexcept { return deadline_; }

  // The set has seen that the peer will send no more (it closed, shut down, or reset). Known only after a first wait.
  [[nodiscard]] bool peer_gone() const noexcept { return peer_gone_; }

  // Somebody waits, now.
  [[nodiscard]] bool reading() const noexcept { return read_.waiter.waiting(); }
  [[nodiscard]] bool writing() const noexcept { return write_.waiter.waiting(); }

  // Null ends the watch. What has happened already is not told: see peer_gone() and broken(). As these, it knows
  // what the set sees, so only after a first wait.
  void watch_peer(PeerWatcher* watcher) noexcept { watcher_ = watcher, look_at_ = kNever; }
  void look_at(SteadyTime time) noexcept { look_at_ = time; }
  [[nodiscard]] bool broken() const noexcept { return broken_; }

  // Leaves the set; to be called before the descriptor is closed. REQUIRES: nobody waits.
  void close() noexcept;

 private:
  friend class Poller;
  bool complete_at_once(Side& side, bool idle) noexcept;
  bool suspend(Side& side, bool idle, std::coroutine_handle<> coroutine) noexcept;

  Poller& poller_;
  const int fd_;
  Side read_;
  Side write_;
  SteadyTime deadline_ = kNever;
  PeerWatcher* watcher_ = nullptr;
  SteadyTime look_at_ = kNever;
  std::uint32_t watched_ = 0;  // events given to epoll_ctl
  bool registered_ = false;
  bool peer_gone_ = false;
  bool broken_ = false;
};

class Poller {
 public:
  // Events taken from the kernel in one turn; the rest come in the next one.
  static constexpr std::size_t kBatchMax = 256;

  // Errors: std::system_error if there is no descriptor.
  Poller();
  ~Poller();
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  // The set's own descriptor, readable while an event is pending.
  [[nodiscard]] int fd() const noexcept { return set_.get(); }

  // Resumes the waiters of what is ready now; never blocks. Returns the number of events taken.
  // REQUIRES: not called from a coroutine that it resumed (likewise the two below).
  std::size_t dispatch();

  // Resumes with kTimeout whose deadline is not after `now`.
  void expire(SteadyTime now);

  // Enters the phase and resumes with kShutdown whoever it concerns.
  void enter(Phase phase);
  [[nodiscard]] Phase phase() const noexcept { return phase_; }

  [[nodiscard]] std::size_t source_count() const noexcept { return source_count_; }
  // Calls of epoll_ctl(2) so far: the cost that this class exists to avoid.
  [[nodiscard]] std::uint64_t control_call_count() const noexcept { return control_calls_; }

 private:
  friend class Source;
  void deliver(Source& source, std::uint32_t events);
  void wake(Source& source, bool read, bool write, Wake reason);
  bool watch(Source& source, std::uint32_t events) noexcept;
  void leave(Source& source) noexcept;
  void strike_out(const Source& source) noexcept;

  const UniqueFd set_;
  IntrusiveList<Source> sources_;
  std::size_t source_count_ = 0;
  std::uint64_t control_calls_ = 0;
  Phase phase_ = Phase::kRunning;

  // The batch in hand: entries from position_ to batch_count_ are still to be delivered.
  std::array<epoll_event, kBatchMax> batch_;
  std::size_t batch_count_ = 0;
  std::size_t position_ = 0;
  Source* current_ = nullptr;  // being woken; null once it is destroyed
};

}  // namespace telltale::net
