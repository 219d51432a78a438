// SPDX-License-Identifier: Apache-2.0
#include "net/stream.h"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <climits>

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "net/worker.h"

namespace telltale::net {
namespace {

// recv(3) and sendmsg(3) are cancellation points: in a program with threads glibc switches cancellation on and off
// around each, some 35 instructions a call, and nobody cancels a thread here. So these are the bare system calls.
ssize_t receive(int fd, void* into, std::size_t bytes) noexcept {
  return ::syscall(SYS_recvfrom, fd, into, bytes, 0, nullptr, nullptr);
}
ssize_t send_message(int fd, const msghdr* message) noexcept {
  return ::syscall(SYS_sendmsg, fd, message, MSG_NOSIGNAL);
}

Io failed(Io::State would_block) noexcept {
  if (errno == EAGAIN || errno == EWOULDBLOCK) {
    return {would_block, 0, 0};
  }
  return {Io::kError, 0, errno};
}

}  // namespace

std::span<iovec> past(std::span<iovec> parts, std::size_t bytes) noexcept {
  while (!parts.empty() && bytes >= parts.front().iov_len) {
    bytes -= parts.front().iov_len;
    parts = parts.subspan(1);
  }
  if (!parts.empty()) {
    parts.front().iov_base = static_cast<char*>(parts.front().iov_base) + bytes;
    parts.front().iov_len -= bytes;
  }
  return parts;
}

Stream::Stream(Worker& worker, UniqueFd socket, const Endpoint& peer)
    : worker_(worker), peer_(peer), socket_(std::move(socket)), source_(worker.poller(), socket_.get()) {}

Stream::~Stream() {
  close();
}

Io Stream::recv(std::span<char> into) noexcept {
  assert(!into.empty());
  ssize_t got;
  do {
    got = receive(socket_.get(), into.data(), into.size());
  } while (got < 0 && errno == EINTR);
  if (got > 0) {
    bytes_in_ += static_cast<std::size_t>(got);
    return {Io::kOk, static_cast<std::size_t>(got), 0};
  }
  return got == 0 ? Io{Io::kClosed, 0, 0} : failed(Io::kWantRead);
}

Io Stream::send(std::span<const iovec> parts) noexcept {
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(parts.data());
  message.msg_iovlen = std::min<std::size_t>(parts.size(), IOV_MAX);
  ssize_t sent;
  do {
    sent = send_message(socket_.get(), &message);
  } while (sent < 0 && errno == EINTR);
  if (sent >= 0) {
    bytes_out_ += static_cast<std::size_t>(sent);
    return {Io::kOk, static_cast<std::size_t>(sent), 0};
  }
  return failed(Io::kWantWrite);
}

Task<Io> Stream::send_all(std::span<iovec> parts, std::chrono::milliseconds inactivity_max) {
  std::size_t total = 0;
  parts = past(parts, 0);  // empty parts at the front
  while (!parts.empty()) {
    const Io io = send(parts);
    if (io.state == Io::kOk) {
      total += io.bytes;
      parts = past(parts, io.bytes);
      continue;
    }
    if (io.state == Io::kError) {
      co_return io;
    }
    std::size_t before = 0;
    if (inactivity_max != kDeadlineAsItIs) {
      set_deadline(worker_.now() + inactivity_max);
      before = untaken();
    }
    Wake wake;
    if (io.state == Io::kWantRead) {
      wake = co_await readable();
    } else {
      wake = co_await writable();
    }
    if (wake == Wake::kTimeout && untaken() < before) {
      continue;  // slow, not stuck
    }
    if (wake != Wake::kReady) {
      co_return Io{Io::kError, total, wake == Wake::kTimeout ? ETIMEDOUT : ECANCELED};
    }
  }
  co_return Io{Io::kOk, total, 0};
}

void Stream::shutdown_write() noexcept {
  ::shutdown(socket_.get(), SHUT_WR);
}

void Stream::close() noexcept {
  if (socket_) {
    source_.close();
    socket_.reset();
  }
}

void Stream::close_with_reset() noexcept {
  const linger abort{1, 0};
  ::setsockopt(socket_.get(), SOL_SOCKET, SO_LINGER, &abort, sizeof abort);
  close();
}

Endpoint Stream::local() const noexcept {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  if (::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    return {};
  }
  return Endpoint::from_sockaddr(address).value_or(Endpoint{});
}

std::size_t Stream::untaken() const noexcept {
  int bytes = 0;
  return ::ioctl(socket_.get(), SIOCOUTQ, &bytes) == 0 && bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
}

int Stream::pending_error() const noexcept {
  int error = 0;
  socklen_t length = sizeof error;
  return ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &length) == 0 ? error : errno;
}

}  // namespace telltale::net
