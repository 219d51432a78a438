// SPDX-License-Identifier: Apache-2.0
#include "net/connect.h"

#include <cerrno>
#include <system_error>
#include <utility>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <telltale/diag/dbg.h>

#include "net/worker.h"

namespace telltale::net {
namespace {

constexpr DbgCtl net_dbg{"net"};

ConnectFailure::Kind kind_of(int error) noexcept {
  switch (error) {
    case ECONNREFUSED:
    case ECONNRESET:
      return ConnectFailure::kRefused;
    case ETIMEDOUT:
      return ConnectFailure::kTimeout;
    case ENETUNREACH:
    case EHOSTUNREACH:
    case EHOSTDOWN:
    case ENETDOWN:
    case EACCES:
    case EPERM:
      return ConnectFailure::kUnreachable;
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM:
    case EADDRNOTAVAIL:
    case EAGAIN:
      return ConnectFailure::kLocal;
    default:
      return ConnectFailure::kOther;
  }
}

using Result = tl::expected<std::unique_ptr<Stream>, ConnectFailure>;

Result failed(const Endpoint& to, ConnectFailure failure) {
  Dbg(net_dbg, "connect to {} failed: {}", to, failure.text());
  return tl::make_unexpected(failure);
}

}  // namespace

std::string ConnectFailure::text() const {
  if (error != 0) {
    return std::generic_category().message(error);
  }
  return kind == kShutdown ? "the worker is stopping" : "no answer in time";
}

Task<Result> connect(Worker& worker, Endpoint to, SteadyTime deadline) {
  UniqueFd socket(::socket(to.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP));
  if (!socket) {
    co_return failed(to, {kind_of(errno), errno});
  }
  const int on = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);

  sockaddr_storage address;
  const socklen_t length = to.to_sockaddr(address);
  const bool waits = ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0;
  if (waits && errno != EINPROGRESS) {
    co_return failed(to, {kind_of(errno), errno});
  }
  auto stream = std::make_unique<Stream>(worker, std::move(socket), to);
  if (waits) {
    stream->set_deadline(deadline);
    const Wake wake = co_await stream->writable();
    stream->clear_deadline();
    if (wake == Wake::kTimeout) {
      co_return failed(to, {ConnectFailure::kTimeout, 0});
    }
    if (wake == Wake::kShutdown) {
      co_return failed(to, {ConnectFailure::kShutdown, 0});
    }
    if (const int error = stream->pending_error(); error != 0) {
      co_return failed(to, {kind_of(error), error});
    }
  }
  // A connection to a port of ours from which the kernel just took the same port as our end: TCP's simultaneous open
  // with ourselves. Nobody listens there.
  if (stream->local() == to) {
    stream->close_with_reset();
    co_return failed(to, {ConnectFailure::kRefused, ECONNREFUSED});
  }
  Dbg(net_dbg, "connected to {} from {}", to, stream->local());
  co_return std::move(stream);
}

}  // namespace telltale::net
