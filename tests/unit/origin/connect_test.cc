// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <set>
#include <optional>
#include <string>
#include <vector>

#include "net/listener.h"
#include "origin/pool.h"
#include "tests/unit/http1/peer.h"
#include "tests/unit/net/on_worker.h"

namespace telltale::origin {
namespace {

using std::chrono::seconds;

struct Connecting {
  http1::BlockPool blocks{1024};
  PoolSettings settings;
  net::test::OnWorker on;
  std::optional<Pool> pool{std::in_place, on.worker(), blocks, settings};
  std::optional<tl::expected<ConnectionPtr, Unreachable>> result;  // on the worker

  void begin(const Authority& origin) {
    on.call([&] {
      [](Connecting& self, Authority to) -> net::Detached {
        auto made = co_await self.pool->connect(to);
        self.result.emplace(std::move(made));
      }(*this, origin);
    });
  }
  void wait() {
    test::wait_until("connect() ends", [&] { return on.call([&] { return result.has_value(); }); });
  }
  ~Connecting() {
    on.call([&] { result.reset(); });
    on.join();
  }
};

TEST_CASE("Pool: connects to an address, and no two pools give a connection the same number", "[origin][pool]") {
  const auto sockets = net::listen_on(*net::Endpoint::parse("127.0.0.1:0"), 1);
  const std::uint16_t port = net::local_endpoint(sockets->front().get()).port();
  Connecting one, other;
  std::set<std::uint64_t> ids;
  for (std::size_t i = 1; i <= 4; ++i) {
    Connecting& connecting = i % 2 == 0 ? one : other;
    connecting.begin({"127.0.0.1", port});
    connecting.wait();
    connecting.on.call([&] {
      REQUIRE(*connecting.result);
      const Connection& connection = ***connecting.result;
      ids.insert(connection.id);
      CHECK(ids.size() == i);
      CHECK(connection.exchanges == 0);
      CHECK(connection.usable());
      CHECK(connection.stream->peer().port() == port);
      connecting.result.reset();
    });
  }
}

TEST_CASE("Pool: an origin where nobody listens is refused", "[origin][pool]") {
  std::uint16_t port;
  {
    const auto sockets = net::listen_on(*net::Endpoint::parse("127.0.0.1:0"), 1);
    port = net::local_endpoint(sockets->front().get()).port();
  }
  Connecting connecting;
  connecting.begin({"127.0.0.1", port});
  connecting.wait();
  REQUIRE_FALSE(*connecting.result);
  CHECK(connecting.result->error().failure == http::Failure::kConnectionRefused);
  CHECK(connecting.result->error().detail == "Connection refused");
}

TEST_CASE("Pool: an origin that does not answer in time is a time-out", "[origin][pool]") {
  // A listener whose queue is full drops further requests to connect.
  net::UniqueFd full(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_storage address;
  const socklen_t length = net::Endpoint::parse("127.0.0.1:0")->to_sockaddr(address);
  REQUIRE(::bind(full.get(), reinterpret_cast<sockaddr*>(&address), length) == 0);
  REQUIRE(::listen(full.get(), 0) == 0);
  const net::Endpoint at = net::local_endpoint(full.get());
  at.to_sockaddr(address);
  std::vector<net::UniqueFd> queue;
  for (int i = 0; i < 4; ++i) {
    queue.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    ::connect(queue.back().get(), reinterpret_cast<sockaddr*>(&address), length);
  }

  Connecting connecting;
  connecting.settings.connect_max = seconds{30};
  connecting.begin({"127.0.0.1", at.port()});
  connecting.on.advance(seconds{29});
  CHECK_FALSE(connecting.on.call([&] { return connecting.result.has_value(); }));
  connecting.on.advance(seconds{1});
  connecting.wait();
  REQUIRE_FALSE(*connecting.result);
  CHECK(connecting.result->error().failure == http::Failure::kConnectionTimeout);
}

TEST_CASE("Pool: a name without an address is a DNS error", "[origin][pool]") {
  Connecting connecting;
  connecting.begin({"not..a..name", 80});  // getaddrinfo(3) refuses it without asking anybody
  connecting.wait();
  REQUIRE_FALSE(*connecting.result);
  CHECK(connecting.result->error().failure == http::Failure::kDnsError);
}

}  // namespace
}  // namespace telltale::origin
