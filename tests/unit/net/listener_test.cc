// SPDX-License-Identifier: Apache-2.0
#include "net/listener.h"

#include <catch2/catch.hpp>
#include <atomic>
#include <mutex>
#include <optional>
#include <vector>

#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "tests/unit/net/on_worker.h"

namespace telltale::net {
namespace {

using namespace std::chrono_literals;
using test::OnWorker;

const Endpoint kAnyPort = *Endpoint::parse("127.0.0.1:0");

UniqueFd connect_to(const Endpoint& at, UniqueFd socket = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))) {
  sockaddr_storage address;
  const socklen_t length = at.to_sockaddr(address);
  REQUIRE(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), length) == 0);
  return socket;
}

// Counts down to an event that other threads bring about.
class Arrivals {
 public:
  void arrive() {
    const std::lock_guard guard(lock_);
    ++count_;
    changed_.notify_all();
  }
  void wait_for(int count) {
    std::unique_lock guard(lock_);
    changed_.wait(guard, [&] { return count_ >= count; });
  }
  int count() {
    const std::lock_guard guard(lock_);
    return count_;
  }

 private:
  std::mutex lock_;
  std::condition_variable changed_;
  int count_ = 0;
};

TEST_CASE("listen_on: the sockets of one call share a port that nobody else gets", "[net][listener]") {
  const auto ours = listen_on(kAnyPort, 3);
  REQUIRE(ours);
  REQUIRE(ours->size() == 3);
  const Endpoint at = local_endpoint(ours->front().get());
  CHECK(at.port() != 0);
  for (const UniqueFd& socket : *ours) {
    CHECK(local_endpoint(socket.get()) == at);
  }

  const auto second = listen_on(at, 3);
  REQUIRE_FALSE(second);
  CHECK(second.error() == fmt::format("cannot listen on {}: Address already in use", at));
}

TEST_CASE("listen_on: a second process is refused, also one that shares the port on purpose", "[net][listener]") {
  const auto ours = listen_on(kAnyPort, 2);
  const Endpoint at = local_endpoint(ours->front().get());
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(listen_on(at, 2) ? 1 : 0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
}

TEST_CASE("listen_on: of many that begin at one moment exactly one succeeds", "[net][listener]") {
  const Endpoint at = local_endpoint(listen_on(kAnyPort, 1)->front().get());
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> won{0};
    std::atomic<int> tried{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        const auto sockets = listen_on(at, 2);
        won += sockets ? 1 : 0;
        ++tried;
        while (tried < 4) {  // nobody frees the port before all have tried
          std::this_thread::yield();
        }
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    CHECK(won == 1);
  }
}

TEST_CASE("listen_on: the port can be taken again at once after its connections were closed", "[net][listener]") {
  Endpoint at;
  {
    const auto sockets = listen_on(kAnyPort, 1);
    at = local_endpoint(sockets->front().get());
    const UniqueFd client = connect_to(at);
    const UniqueFd accepted(::accept4(sockets->front().get(), nullptr, nullptr, SOCK_CLOEXEC));
    ::shutdown(accepted.get(), SHUT_RDWR);  // our side closes first: TIME_WAIT is ours
  }
  const auto again = listen_on(at, 2);
  INFO((again ? "" : again.error()));
  CHECK(again);
}

TEST_CASE("listen_on: an address that is not ours is refused with address and reason", "[net][listener]") {
  const auto sockets = listen_on(*Endpoint::parse("192.0.2.1:1"), 1);
  REQUIRE_FALSE(sockets);
  CHECK(sockets.error() == "cannot listen on 192.0.2.1:1: Cannot assign requested address");
}

TEST_CASE("Listener: every client is accepted, with its address, on one of the workers", "[net][listener]") {
  constexpr int kClients = 300;  // more than one turn takes
  auto sockets = listen_on(kAnyPort, 2);
  const Endpoint at = local_endpoint(sockets->front().get());
  std::mutex lock;
  std::vector<Endpoint> peers;
  int with_context = 0;
  Arrivals accepted;
  OnWorker one;
  OnWorker two;
  const auto on_accept = [&](UniqueFd, const Endpoint& peer) {
    {
      const std::lock_guard guard(lock);
      peers.push_back(peer);
      with_context += diag::current_context() != nullptr ? 1 : 0;
    }
    accepted.arrive();
  };
  Listener first(one.worker(), std::move((*sockets)[0]), on_accept);
  Listener second(two.worker(), std::move((*sockets)[1]), on_accept);
  CHECK(second.local() == at);
  std::vector<UniqueFd> clients;
  std::vector<Endpoint> expected;
  for (int i = 0; i < kClients; ++i) {
    clients.push_back(connect_to(at));
    expected.push_back(local_endpoint(clients.back().get()));
  }
  first.start();
  second.start();
  accepted.wait_for(kClients);
  one.join();
  two.join();
  CHECK(with_context == 0);
  CHECK(std::is_permutation(peers.begin(), peers.end(), expected.begin(), expected.end()));
}

TEST_CASE("Listener: a stopping worker closes its socket at once, so that new clients are refused", "[net][listener]") {
  auto sockets = listen_on(kAnyPort, 1);
  const Endpoint at = local_endpoint(sockets->front().get());
  OnWorker on;
  Listener listener(on.worker(), std::move(sockets->front()), [](UniqueFd, const Endpoint&) {});
  listener.start();
  on.settle();
  on.worker().stop(60s);
  on.wait();
  const UniqueFd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_storage address;
  const socklen_t length = at.to_sockaddr(address);
  CHECK(::connect(client.get(), reinterpret_cast<sockaddr*>(&address), length) == -1);
  CHECK(errno == ECONNREFUSED);
}

// No descriptor can be opened while it lives.
class NoDescriptorsLeft {
 public:
  NoDescriptorsLeft() {
    ::getrlimit(RLIMIT_NOFILE, &former_);
    const int lowest_free = ::dup(0);
    ::close(lowest_free);
    rlimit now = former_;
    now.rlim_cur = static_cast<rlim_t>(lowest_free);
    ::setrlimit(RLIMIT_NOFILE, &now);
  }
  ~NoDescriptorsLeft() { ::setrlimit(RLIMIT_NOFILE, &former_); }

 private:
  rlimit former_{};
};

TEST_CASE(
    "Listener: out of descriptors it pauses without turning, and accepts all who waited when there are some again",
    "[net][listener]") {
  constexpr int kClients = 5;
  auto sockets = listen_on(kAnyPort, 1);
  const Endpoint at = local_endpoint(sockets->front().get());
  OnWorker on;
  Arrivals accepted;
  std::vector<UniqueFd> kept;
  Listener listener(on.worker(), std::move(sockets->front()), [&](UniqueFd socket, const Endpoint&) {
    kept.push_back(std::move(socket));
    accepted.arrive();
  });
  listener.start();
  on.settle();
  std::vector<UniqueFd> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  }
  {
    const NoDescriptorsLeft none;
    for (UniqueFd& client : clients) {
      client = connect_to(at, std::move(client));
    }
    on.settle();
    for (int tick = 0; tick < 4; ++tick) {
      on.advance(250ms);
    }
    CHECK(accepted.count() == 0);
    CHECK(on.call([&] { return on.worker().poller().dispatch(); }) == 0);
  }
  on.advance(250ms);
  accepted.wait_for(kClients);
  on.join();
  CHECK(kept.size() == kClients);
}

TEST_CASE("Listener: many short connections leave no descriptor open", "[net][listener]") {
  constexpr int kConnections = 2000;
  const std::size_t before = test::open_descriptors();
  {
    auto sockets = listen_on(kAnyPort, 1);
    const Endpoint at = local_endpoint(sockets->front().get());
    OnWorker on;
    Arrivals ended;
    Listener listener(on.worker(), std::move(sockets->front()), [&](UniqueFd socket, const Endpoint& peer) {
      [](Worker& worker, UniqueFd fd, Endpoint from, Arrivals& done) -> Detached {
        {
          Stream stream(worker, std::move(fd), from);
          std::array<char, 64> buffer;
          while (co_await stream.readable() == Wake::kReady) {
            const Io got = stream.recv(buffer);
            if (got.state == Io::kWantRead) {
              continue;
            }
            if (got.state != Io::kOk) {
              break;
            }
            std::array<iovec, 1> reply{{{buffer.data(), got.bytes}}};
            (void)co_await stream.send_all(reply);
          }
        }
        done.arrive();
      }(on.worker(), std::move(socket), peer, ended);
    });
    listener.start();
    int echoed = 0;
    for (int i = 0; i < kConnections; ++i) {
      const UniqueFd client = connect_to(at);
      test::write_text(client, "ping");
      std::array<char, 8> buffer;
      echoed += ::recv(client.get(), buffer.data(), buffer.size(), 0) == 4 ? 1 : 0;
    }
    CHECK(echoed == kConnections);
    ended.wait_for(kConnections);
    CHECK(on.call([&] { return on.worker().poller().source_count(); }) == 1);
    on.join();
  }
  CHECK(test::open_descriptors() == before);
}

}  // namespace
}  // namespace telltale::net
