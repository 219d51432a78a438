// SPDX-License-Identifier: Apache-2.0
#include "net/connect.h"

#include <catch2/catch.hpp>
#include <future>
#include <optional>
#include <vector>

#include "net/listener.h"
#include "tests/unit/net/on_worker.h"

namespace telltale::net {
namespace {

using namespace std::chrono_literals;
using test::OnWorker;

struct Outcome {
  std::optional<ConnectFailure> failure;
  std::string text;
  Endpoint local;
};

Detached try_connect(Worker& worker, Endpoint to, SteadyTime deadline, std::promise<Outcome>& result) {
  Outcome outcome;
  {
    auto stream = co_await connect(worker, to, deadline);
    if (stream) {
      outcome.local = (*stream)->local();
    } else {
      outcome.failure = stream.error();
      outcome.text = stream.error().text();
    }
  }
  result.set_value(outcome);
}

struct Attempt {
  explicit Attempt(OnWorker& on, const Endpoint& to) : future(result.get_future()) {
    on.call([&] { try_connect(on.worker(), to, on.worker().now() + 5s, result); });
  }
  std::promise<Outcome> result;
  std::future<Outcome> future;
};

const Endpoint kAnyPort = *Endpoint::parse("127.0.0.1:0");

TEST_CASE("connect: to a listening socket it gives a stream", "[net][connect]") {
  OnWorker on;
  const auto sockets = listen_on(kAnyPort, 1);
  const Endpoint at = local_endpoint(sockets->front().get());
  const Outcome outcome = Attempt(on, at).future.get();
  CHECK_FALSE(outcome.failure);
  CHECK(outcome.local.address_text() == "127.0.0.1");
}

TEST_CASE("connect: where nobody listens it is refused", "[net][connect]") {
  OnWorker on;
  const Endpoint at = local_endpoint(listen_on(kAnyPort, 1)->front().get());
  const Outcome outcome = Attempt(on, at).future.get();
  REQUIRE(outcome.failure);
  CHECK(outcome.failure->kind == ConnectFailure::kRefused);
  CHECK(outcome.failure->error == ECONNREFUSED);
  CHECK(outcome.text == "Connection refused");
}

TEST_CASE("connect: an address no route leads to is unreachable", "[net][connect]") {
  OnWorker on;
  const Outcome outcome = Attempt(on, *Endpoint::parse("255.255.255.255:80")).future.get();
  REQUIRE(outcome.failure);
  CHECK(outcome.failure->kind == ConnectFailure::kUnreachable);
}

// Listens, but its queue is full: further connections get no answer.
struct Deaf {
  Deaf() {
    socket = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_storage address;
    const socklen_t length = kAnyPort.to_sockaddr(address);
    REQUIRE(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), length) == 0);
    REQUIRE(::listen(socket.get(), 0) == 0);
    at = local_endpoint(socket.get());
    at.to_sockaddr(address);
    for (int i = 0; i < 4; ++i) {
      fill.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      (void)!::connect(fill.back().get(), reinterpret_cast<sockaddr*>(&address), length);
    }
  }
  UniqueFd socket;
  Endpoint at;
  std::vector<UniqueFd> fill;
};

TEST_CASE("connect: without an answer it ends at the deadline", "[net][connect]") {
  OnWorker on;
  const Deaf deaf;
  Attempt attempt(on, deaf.at);
  on.advance(4s);
  CHECK(attempt.future.wait_for(0s) == std::future_status::timeout);
  on.advance(1s);
  const Outcome outcome = attempt.future.get();
  REQUIRE(outcome.failure);
  CHECK(outcome.failure->kind == ConnectFailure::kTimeout);
  CHECK(outcome.text == "no answer in time");
}

TEST_CASE("connect: a stopping worker ends it", "[net][connect]") {
  OnWorker on;
  const Deaf deaf;
  Attempt attempt(on, deaf.at);
  on.join();
  const Outcome outcome = attempt.future.get();
  REQUIRE(outcome.failure);
  CHECK(outcome.failure->kind == ConnectFailure::kShutdown);
}

TEST_CASE("connect: failures leave no descriptor open", "[net][connect]") {
  OnWorker on;
  const std::size_t before = test::open_descriptors();
  const Endpoint at = local_endpoint(listen_on(kAnyPort, 1)->front().get());
  for (int i = 0; i < 100; ++i) {
    CHECK(Attempt(on, at).future.get().failure);
  }
  CHECK(test::open_descriptors() == before);
}

}  // namespace
}  // namespace telltale::net
