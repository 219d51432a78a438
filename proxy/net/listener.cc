// SPDX-License-Identifier: Apache-2.0
#include "net/listener.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <telltale/diag/dbg.h>
#include <telltale/diag/level.h>

#include "net/worker.h"

namespace telltale::net {
namespace {

constexpr DbgCtl net_dbg{"net"};
constexpr int kBacklog = 4096;  // the kernel cuts it to net.core.somaxconn
constexpr std::chrono::milliseconds kPause{250};

bool enable(int fd, int level, int option) noexcept {
  const int on = 1;
  return ::setsockopt(fd, level, option, &on, sizeof on) == 0;
}

std::string reason() {
  return std::generic_category().message(errno);
}

// Ready to accept, or a reason. `joins`: the address is this process's already.
tl::expected<UniqueFd, std::string> listen_once(const Endpoint& address, bool joins) {
  UniqueFd fd(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP));
  // SO_REUSEADDR: a restart does not wait for the old connections' TIME_WAIT; it does not share a listening port.
  if (!fd || !enable(fd.get(), SOL_SOCKET, SO_REUSEADDR) || !enable(fd.get(), IPPROTO_TCP, TCP_NODELAY) ||
      (!address.is_v4() && !enable(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY)) ||
      (joins && !enable(fd.get(), SOL_SOCKET, SO_REUSEPORT))) {
    return tl::make_unexpected(reason());
  }
  sockaddr_storage storage;
  const socklen_t length = address.to_sockaddr(storage);
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&storage), length) != 0 || ::listen(fd.get(), kBacklog) != 0) {
    return tl::make_unexpected(reason());
  }
  // listen() is where two processes that bound at the same moment are told apart; the option comes after it.
  if (!joins && !enable(fd.get(), SOL_SOCKET, SO_REUSEPORT)) {
    return tl::make_unexpected(reason());
  }
  return fd;
}

}  // namespace

tl::expected<std::vector<UniqueFd>, std::string> listen_on(const Endpoint& address, std::size_t count) {
  std::vector<UniqueFd> sockets;
  Endpoint at = address;
  while (sockets.size() < count) {
    auto socket = listen_once(at, !sockets.empty());
    if (!socket) {
      return tl::make_unexpected(fmt::format("cannot listen on {}: {}", address, socket.error()));
    }
    sockets.push_back(*std::move(socket));
    at = local_endpoint(sockets.front().get());
  }
  return sockets;
}

Endpoint local_endpoint(int fd) noexcept {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    return {};
  }
  return Endpoint::from_sockaddr(address).value_or(Endpoint{});
}

Listener::Listener(Worker& worker, UniqueFd socket, OnAccept on_accept)
    : worker_(worker),
      socket_(std::move(socket)),
      local_(local_endpoint(socket_.get())),
      on_accept_(std::move(on_accept)),
      source_(worker.poller(), socket_.get()) {}

void Listener::start() {
  worker_.post([this] { run(); });
}

Detached Listener::run() {
  for (bool going_on = true; going_on;) {
    const Wake wake = co_await source_.readable(true);
    if (wake != Wake::kReady) {
      break;
    }
    const Turn turn = accept_some();
    going_on = turn != Turn::kFailed;
    if (turn == Turn::kExhausted) {
      going_on = co_await worker_.sleep_until(worker_.now() + kPause);
    }
  }
  Dbg(net_dbg, "no longer accepting on {}", local_);
  source_.close();
  socket_.reset();
}

Listener::Turn Listener::accept_some() {
  for (int i = 0; i < kAcceptsPerTurnMax; ++i) {
    sockaddr_storage address;
    socklen_t length = sizeof address;
    UniqueFd client(
        ::accept4(socket_.get(), reinterpret_cast<sockaddr*>(&address), &length, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (client) {
      const Endpoint peer = Endpoint::from_sockaddr(address).value_or(Endpoint{});
      on_accept_(std::move(client), peer);
      continue;
    }
    switch (errno) {
      case EAGAIN:
        if (std::exchange(paused_, false)) {
          diag::note("accepting again on {}", local_);
        }
        return Turn::kDone;
      case EMFILE:
      case ENFILE:
      case ENOBUFS:
      case ENOMEM:
        if (!std::exchange(paused_, true)) {
          diag::warning("accepting pauses on {}: {}", local_, reason());
        }
        return Turn::kExhausted;
      case EBADF:
      case EINVAL:
      case ENOTSOCK:
        diag::error("accepting ends on {}: {}", local_, reason());
        return Turn::kFailed;
      default:  // accept(2): errors of the one connection that was taken, which is gone
        Dbg(net_dbg, "accept on {} failed: {}", local_, reason());
    }
  }
  return Turn::kDone;
}

}  // namespace telltale::net
