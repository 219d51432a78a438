// SPDX-License-Identifier: Apache-2.0
#include "net/stream.h"

#include <catch2/catch.hpp>
#include <numeric>
#include <optional>
#include <string>

#include <netinet/in.h>
#include <netinet/tcp.h>

#include "net/connect.h"
#include "net/listener.h"
#include "tests/unit/net/on_worker.h"

namespace telltale::net {
namespace {

// A worker that does not run: the test turns its poller by hand, on one thread.
struct Bench {
  ManualClock clock;
  Worker worker{{.clock = &clock}};
  std::array<char, 65536> buffer{};

  Stream wrap(test::SocketPair& pair) { return {worker, std::move(pair.ours), Endpoint{}}; }
};

// Two ends of a TCP connection over the loopback.
struct TcpPair {
  TcpPair() {
    const auto sockets = listen_on(*Endpoint::parse("127.0.0.1:0"), 1);
    const Endpoint at = local_endpoint(sockets->front().get());
    sockaddr_storage address;
    const socklen_t length = at.to_sockaddr(address);
    peer = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    REQUIRE(::connect(peer.get(), reinterpret_cast<sockaddr*>(&address), length) == 0);
    ours = UniqueFd(::accept4(sockets->front().get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    REQUIRE(ours);
  }
  UniqueFd ours;
  UniqueFd peer;
};

Io send_text(Stream& stream, std::string_view text) {
  const iovec part{const_cast<char*>(text.data()), text.size()};
  return stream.send({&part, 1});
}

TEST_CASE("Stream: recv and send tell what happened", "[net][stream]") {
  Bench bench;
  test::SocketPair pair;
  Stream stream = bench.wrap(pair);

  CHECK(stream.recv(bench.buffer).state == Io::kWantRead);
  test::write_text(pair.peer, "hello");
  const Io got = stream.recv(bench.buffer);
  CHECK(got.state == Io::kOk);
  CHECK(std::string_view(bench.buffer.data(), got.bytes) == "hello");
  CHECK(stream.bytes_in() == 5);

  CHECK(send_text(stream, "back").bytes == 4);
  CHECK(stream.bytes_out() == 4);
  std::string big(1 << 24, 'x');
  Io io = send_text(stream, big);
  CHECK(io.state == Io::kOk);
  CHECK(io.bytes < big.size());
  while (io.state == Io::kOk) {
    io = send_text(stream, big);
  }
  CHECK(io.state == Io::kWantWrite);

  ::shutdown(pair.peer.get(), SHUT_WR);
  CHECK(stream.recv(bench.buffer).state == Io::kClosed);
}

TEST_CASE("Stream: sending to a peer that is gone is an error value, not a signal", "[net][stream]") {
  Bench bench;
  test::SocketPair pair;
  Stream stream = bench.wrap(pair);
  pair.peer.reset();
  const Io io = send_text(stream, "x");
  CHECK(io.state == Io::kError);
  CHECK(io.error == EPIPE);
}

TEST_CASE("Stream: send_all sends every byte of every part to a slow reader", "[net][stream]") {
  Bench bench;
  test::SocketPair pair;
  Stream stream = bench.wrap(pair);
  std::string head = "head";
  std::string body(3'000'000, '\0');
  std::iota(body.begin(), body.end(), '\0');
  std::string tail = "tail";
  std::array<iovec, 5> parts{
      {{nullptr, 0}, {head.data(), head.size()}, {body.data(), body.size()}, {nullptr, 0}, {tail.data(), tail.size()}}};
  std::optional<Io> result;
  [](Stream& to, std::span<iovec> what, std::optional<Io>& io) -> Detached { io = co_await to.send_all(what); }(
                                                                   stream, parts, result);

  std::string received;
  std::array<char, 4096> buffer;
  while (!result || received.size() < head.size() + body.size() + tail.size()) {
    const ssize_t got = ::recv(pair.peer.get(), buffer.data(), buffer.size(), 0);
    if (got > 0) {
      received.append(buffer.data(), static_cast<std::size_t>(got));
    }
    bench.worker.poller().dispatch();
  }
  CHECK(result->state == Io::kOk);
  CHECK(result->bytes == received.size());
  CHECK((received == head + body + tail));
}

TEST_CASE("Stream: send_all ends at the deadline, when the peer breaks off, and when the worker closes",
          "[net][stream]") {
  Bench bench;
  test::SocketPair pair;
  Stream stream = bench.wrap(pair);
  std::string body(1 << 24, 'x');
  std::array<iovec, 1> parts{{{body.data(), body.size()}}};
  std::optional<Io> result;
  stream.set_deadline(bench.clock.steady_now() + std::chrono::seconds{5});
  [](Stream& to, std::span<iovec> what, std::optional<Io>& io) -> Detached { io = co_await to.send_all(what); }(
                                                                   stream, parts, result);
  REQUIRE_FALSE(result);

  SECTION("deadline") {
    bench.worker.poller().expire(bench.clock.steady_now() + std::chrono::seconds{5});
    REQUIRE(result);
    CHECK(result->error == ETIMEDOUT);
    CHECK(result->bytes == stream.bytes_out());
  }
  SECTION("peer") {
    pair.peer.reset();
    bench.worker.poller().dispatch();
    REQUIRE(result);
    CHECK(result->error == EPIPE);
  }
  SECTION("closing") {
    bench.worker.poller().enter(Phase::kClosing);
    REQUIRE(result);
    CHECK(result->error == ECANCELED);
  }
  CHECK(result->state == Io::kError);
}

TEST_CASE("Stream: a cleared deadline does not fire", "[net][stream]") {
  Bench bench;
  test::SocketPair pair;
  Stream stream = bench.wrap(pair);
  std::optional<Wake> wake;
  stream.set_deadline(bench.clock.steady_now());
  stream.clear_deadline();
  [](Stream& on, std::optional<Wake>& why) -> Detached { why = co_await on.readable(); }(stream, wake);
  bench.worker.poller().expire(bench.clock.steady_now() + std::chrono::hours{1});
  CHECK_FALSE(wake);
  bench.worker.poller().enter(Phase::kClosing);
}

TEST_CASE("Stream: close ends the descriptor, calls after it fail", "[net][stream]") {
  Bench bench;
  test::SocketPair pair;
  Stream stream = bench.wrap(pair);
  stream.close();
  stream.close();
  CHECK_FALSE(stream.is_open());
  CHECK(stream.recv(bench.buffer).error == EBADF);
  CHECK(send_text(stream, "x").error == EBADF);
  char byte;
  CHECK(::recv(pair.peer.get(), &byte, 1, 0) == 0);
}

TEST_CASE("Stream: close_with_reset is not taken for an orderly end", "[net][stream]") {
  Bench bench;
  TcpPair pair;
  {
    Stream stream(bench.worker, std::move(pair.ours), Endpoint{});
    CHECK(send_text(stream, "cut").bytes == 3);
    stream.close_with_reset();
  }
  std::array<char, 16> buffer;
  ssize_t got;
  while ((got = ::recv(pair.peer.get(), buffer.data(), buffer.size(), 0)) > 0) {
  }
  CHECK(got == -1);
  CHECK(errno == ECONNRESET);
}

TEST_CASE("Stream: a TCP client that only ends its data is noticed and still reads", "[net][stream]") {
  Bench bench;
  TcpPair pair;
  Stream stream(bench.worker, std::move(pair.ours), Endpoint{});
  std::optional<Wake> wake;
  [](Stream& on, std::optional<Wake>& why) -> Detached { why = co_await on.readable(); }(stream, wake);
  test::write_text(pair.peer, "request");
  while (!wake) {
    bench.worker.poller().dispatch();
  }
  CHECK(stream.recv(bench.buffer).bytes == 7);
  CHECK_FALSE(stream.peer_gone());
  ::shutdown(pair.peer.get(), SHUT_WR);
  while (!stream.peer_gone()) {
    bench.worker.poller().dispatch();
  }
  CHECK(bench.worker.poller().dispatch() == 0);
  CHECK(send_text(stream, "response").bytes == 8);
  std::array<char, 16> buffer;
  CHECK(::recv(pair.peer.get(), buffer.data(), buffer.size(), 0) == 8);
}

TEST_CASE("Stream: shutdown_write lets the peer see the end and goes on reading", "[net][stream]") {
  Bench bench;
  TcpPair pair;
  Stream stream(bench.worker, std::move(pair.ours), Endpoint{});
  stream.shutdown_write();
  std::array<char, 16> buffer;
  CHECK(::recv(pair.peer.get(), buffer.data(), buffer.size(), 0) == 0);
  test::write_text(pair.peer, "late");
  Io io = stream.recv(bench.buffer);
  while (io.state == Io::kWantRead) {
    io = stream.recv(bench.buffer);
  }
  CHECK(io.bytes == 4);
}

TEST_CASE("Stream: accepted sockets have TCP_NODELAY and know both ends", "[net][stream]") {
  Bench bench;
  TcpPair pair;
  int nodelay = 0;
  socklen_t length = sizeof nodelay;
  ::getsockopt(pair.ours.get(), IPPROTO_TCP, TCP_NODELAY, &nodelay, &length);
  CHECK(nodelay == 1);
  const Endpoint peer = local_endpoint(pair.peer.get());
  Stream stream(bench.worker, std::move(pair.ours), peer);
  CHECK(stream.peer() == peer);
  CHECK(stream.local().address_text() == "127.0.0.1");
  CHECK(stream.local().port() != 0);
  CHECK(stream.pending_error() == 0);
}

}  // namespace
}  // namespace telltale::net
