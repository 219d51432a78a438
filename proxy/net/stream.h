// SPDX-License-Identifier: Apache-2.0
#pragma once
// A connected socket as sessions and origins use it: one try to receive, one try to send, and awaiters for when a
// try must wait. Clear text now; TLS will sit behind the same calls, so a caller obeys the state that a call returns
// and does not assume that receiving never waits to write.
//
//   Io state    | meaning                                   | what the caller does
//   ------------|-------------------------------------------|--------------------------------------
//   kOk         | bytes > 0 were moved, perhaps not all      | goes on
//   kWantRead   | nothing moved                              | co_await readable(), same call again
//   kWantWrite  | nothing moved                              | co_await writable(), same call again
//   kClosed     | recv only: the peer ended its data         | ends; may still send
//   kError      | the connection is broken; `error` is errno | ends
//
// One coroutine may wait for each direction. A broken connection is `kReady`: the next call tells. Not movable:
// the poller knows its address. Must be destroyed before its Worker.
//
// **Thread safety:** loop-bound.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

#include <sys/uio.h>

#include "net/clock.h"
#include "net/endpoint.h"
#include "net/poller.h"
#include "net/task.h"
#include "net/unique_fd.h"

namespace telltale::net {

class Worker;

struct Io {
  enum State : std::uint8_t { kOk, kWantRead, kWantWrite, kClosed, kError };
  State state;
  std::size_t bytes = 0;  // of kOk
  int error = 0;          // errno of kError
};

// Takes `bytes` from the front of the parts; returns what is left of them.
[[nodiscard]] std::span<iovec> past(std::span<iovec> parts, std::size_t bytes) noexcept;

class Stream {
 public:
  // Takes a connected, non-blocking socket (accept_on() and connect() make them).
  Stream(Worker& worker, UniqueFd socket, const Endpoint& peer);
  // Closes. REQUIRES: nobody waits.
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // One recv(2). REQUIRES: into is not empty. Cost: one system call, no lock, no allocation.
  [[nodiscard]] Io recv(std::span<char> into) noexcept;
  // One sendmsg(2) of at most IOV_MAX parts; never raises SIGPIPE. REQUIRES: at least one byte. Cost: as recv().
  [[nodiscard]] Io send(std::span<const iovec> parts) noexcept;
  // Sends everything, waiting as often as it must; advances the parts past what is sent.
  // Returns kOk with all bytes, or kError; a deadline is kError with ETIMEDOUT, a stopping worker with ECANCELED.
  // inactivity_max: the peer may take no byte for so long. A socket becomes writable only when a third of its buffer,
  // which may be megabytes, is free again; so a peer that is slow is looked at when the time is over.
  // Cost: beside the calls, one frame from the free list. REQUIRES: what parts points to lives until the end.
  static constexpr std::chrono::milliseconds kDeadlineAsItIs{0};
  [[nodiscard]] Task<Io> send_all(std::span<iovec> parts, std::chrono::milliseconds inactivity_max = kDeadlineAsItIs);

  // co_await gives a Wake.
  [[nodiscard]] Source::Wait readable() noexcept { return source_.readable(); }
  [[nodiscard]] Source::Wait writable() noexcept { return source_.writable(); }
  // As readable(), between two exchanges: ends with kShutdown as soon as the worker begins to stop, where
  // readable() and writable() go on until its drain time is over.
  [[nodiscard]] Source::Wait idle_readable() noexcept { return source_.readable(true); }

  // One deadline for both directions; a new one replaces it. When it passes, whoever waits gets kTimeout, once: the
  // deadline is then gone. Resolution: the worker's tick. Cost: one store.
  void set_deadline(SteadyTime deadline) noexcept { source_.set_deadline(deadline); }
  void clear_deadline() noexcept { source_.set_deadline(kNever); }

  // Ends our data, the peer sees an end of file; receiving goes on.
  void shutdown_write() noexcept;
  // Both REQUIRE: nobody waits. Calls after them fail with EBADF.
  void close() noexcept;
  // Throws away what is unsent and resets the connection, so that the peer cannot take a cut message for a whole one.
  void close_with_reset() noexcept;

  [[nodiscard]] bool is_open() const noexcept { return static_cast<bool>(socket_); }
  [[nodiscard]] int fd() const noexcept { return socket_.get(); }
  [[nodiscard]] Worker& worker() const noexcept { return worker_; }
  [[nodiscard]] const Endpoint& peer() const noexcept { return peer_; }
  // Our end. Cost: a system call.
  [[nodiscard]] Endpoint local() const noexcept;
  // Bytes that were sent and the peer's side has not taken; 0 where nobody knows. Cost: a system call.
  [[nodiscard]] std::size_t untaken() const noexcept;
  // Takes the socket's error (SO_ERROR), 0 if none.
  [[nodiscard]] int pending_error() const noexcept;
  // The peer has ended its data or reset, as far as the loop has noticed; it notices also while nobody waits, once
  // the stream was waited for. Clients that end only their sending side look the same: they still read.
  [[nodiscard]] bool peer_gone() const noexcept { return source_.peer_gone(); }
  // Source's: who is told when the peer ends its data or is lost, also while nobody waits.
  void watch_peer(PeerWatcher* watcher) noexcept { source_.watch_peer(watcher); }
  void look_at(SteadyTime time) noexcept { source_.look_at(time); }
  [[nodiscard]] bool broken() const noexcept { return source_.broken(); }
  [[nodiscard]] bool reading() const noexcept { return source_.reading(); }
  [[nodiscard]] bool writing() const noexcept { return source_.writing(); }
  [[nodiscard]] std::uint64_t bytes_in() const noexcept { return bytes_in_; }
  [[nodiscard]] std::uint64_t bytes_out() const noexcept { return bytes_out_; }

 private:
  // Constant after construction.
  Worker& worker_;
  const Endpoint peer_;

  UniqueFd socket_;
  Source source_;
  std::uint64_t bytes_in_ = 0;
  std::uint64_t bytes_out_ = 0;
};

}  // namespace telltale::net
