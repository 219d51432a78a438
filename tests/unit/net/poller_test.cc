// SPDX-License-Identifier: Apache-2.0
#include "net/poller.h"

#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "net/task.h"
#include "tests/unit/net/on_worker.h"

namespace telltale::net {
namespace {

using test::SocketPair;
using test::write_text;

struct Watched : SocketPair {
  explicit Watched(Poller& poller) : source(std::make_unique<Source>(poller, ours.get())) {}
  char take() const {
    char byte = 0;
    return ::recv(ours.get(), &byte, 1, 0) == 1 ? byte : '\0';
  }
  std::unique_ptr<Source> source;
};

// Waits once, then calls what.
Detached once_readable(Source& source, std::function<void(Wake)> what, bool idle = false) {
  const Wake wake = co_await source.readable(idle);
  what(wake);
}
Detached once_writable(Source& source, std::function<void(Wake)> what) {
  const Wake wake = co_await source.writable();
  what(wake);
}

TEST_CASE("Poller: a source destroyed in the middle of a batch gets no event of that batch", "[net][poller]") {
  Poller poller;
  Watched first(poller);
  Watched second(poller);
  // The second is watched, but at the moment nobody waits for it: a session busy with the first.
  once_readable(*second.source, [&](Wake) { second.take(); });
  write_text(second.peer, "x");
  REQUIRE(poller.dispatch() == 1);
  REQUIRE(poller.dispatch() == 0);  // the kernel has forgotten it: in the next batch the first comes first

  bool destroyed = false;
  once_readable(*first.source, [&](Wake) {
    second.source.reset();
    destroyed = true;
  });
  write_text(first.peer, "x");
  write_text(second.peer, "y");
  CHECK(poller.dispatch() == 2);
  CHECK(destroyed);
  CHECK(poller.dispatch() == 1);  // the first's byte, which nobody took
  CHECK(poller.dispatch() == 0);
}

TEST_CASE("Poller: a source made in the middle of a batch where one was destroyed gets none of its events",
          "[net][poller]") {
  Poller poller;
  Watched first(poller);
  SocketPair second;
  std::optional<Source> slot(std::in_place, poller, second.ours.get());  // the same address twice
  once_readable(*slot, [&](Wake) {
    char byte;
    CHECK(::recv(second.ours.get(), &byte, 1, 0) == 1);
  });
  write_text(second.peer, "x");
  REQUIRE(poller.dispatch() == 1);
  REQUIRE(poller.dispatch() == 0);

  SocketPair quiet;
  int wakes_of_quiet = 0;
  once_readable(*first.source, [&](Wake) {
    slot.emplace(poller, quiet.ours.get());
    once_readable(*slot, [&](Wake) { ++wakes_of_quiet; });
  });
  write_text(first.peer, "x");
  write_text(second.peer, "y");
  CHECK(poller.dispatch() == 2);
  CHECK(wakes_of_quiet == 0);
  write_text(quiet.peer, "z");
  poller.dispatch();
  CHECK(wakes_of_quiet == 1);
}

TEST_CASE("Poller: a source may destroy itself from the coroutine that it wakes", "[net][poller]") {
  Poller poller;
  Watched one(poller);
  once_readable(*one.source, [&](Wake) { one.source.reset(); });
  write_text(one.peer, "x");
  CHECK(poller.dispatch() == 1);
  CHECK(poller.source_count() == 0);
  CHECK(poller.dispatch() == 0);
}

TEST_CASE("Poller: waiting again and again for the same direction costs no epoll_ctl", "[net][poller]") {
  Poller poller;
  Watched one(poller);
  int requests = 0;
  [](Watched& watched, int& n) -> Detached {
    while (co_await watched.source->readable() == Wake::kReady) {
      watched.take();
      ++n;
    }
  }(one, requests);
  CHECK(poller.control_call_count() == 1);
  for (int i = 0; i < 100; ++i) {
    write_text(one.peer, "x");
    poller.dispatch();
  }
  CHECK(requests == 100);
  CHECK(poller.control_call_count() == 1);
  poller.enter(Phase::kClosing);
}

TEST_CASE("Poller: what nobody waits for is reported once, not for ever", "[net][poller]") {
  Poller poller;
  Watched one(poller);
  once_readable(*one.source, [&](Wake) { one.take(); });
  write_text(one.peer, "x");
  REQUIRE(poller.dispatch() == 1);

  write_text(one.peer, "y");
  CHECK(poller.dispatch() == 1);
  CHECK(poller.dispatch() == 0);
  // It is not lost: a later wait gets it.
  char got = 0;
  once_readable(*one.source, [&](Wake) { got = one.take(); });
  CHECK(poller.dispatch() == 1);
  CHECK(got == 'y');
}

TEST_CASE("Poller: a peer that leaves while nobody waits is noticed once, and the next wait is ready at once",
          "[net][poller]") {
  Poller poller;
  Watched one(poller);
  once_readable(*one.source, [&](Wake) { one.take(); });
  write_text(one.peer, "x");
  REQUIRE(poller.dispatch() == 1);
  CHECK_FALSE(one.source->peer_gone());

  one.peer.reset();
  poller.dispatch();
  CHECK(one.source->peer_gone());
  CHECK(poller.dispatch() == 0);
  std::optional<Wake> wake;
  once_readable(*one.source, [&](Wake why) { wake = why; });
  CHECK(wake == Wake::kReady);
}

TEST_CASE("Poller: a peer that ends its data only is noticed while nobody waits, and writing goes on",
          "[net][poller]") {
  Poller poller;
  Watched one(poller);
  once_readable(*one.source, [&](Wake) { one.take(); });
  write_text(one.peer, "x");
  REQUIRE(poller.dispatch() == 1);

  ::shutdown(one.peer.get(), SHUT_WR);
  poller.dispatch();
  CHECK(one.source->peer_gone());
  CHECK(poller.dispatch() == 0);
  std::optional<Wake> wake;
  once_writable(*one.source, [&](Wake why) { wake = why; });
  poller.dispatch();
  CHECK(wake == Wake::kReady);
}

TEST_CASE("Poller: who watches a peer is told once that it ended its data, that it is lost, and to look", "[net][poller]") {
  struct Told final : PeerWatcher {
    void peer_ended() noexcept override { text += "ended "; }
    void peer_lost() noexcept override { text += "lost "; }
    void look() noexcept override { text += "look "; }
    std::string text;
  } told;
  Poller poller;
  Watched one(poller);
  once_readable(*one.source, [&](Wake) { one.take(); });
  write_text(one.peer, "x");
  REQUIRE(poller.dispatch() == 1);
  one.source->watch_peer(&told);
  const SteadyTime begun{};
  one.source->look_at(begun + std::chrono::seconds{2});
  poller.expire(begun + std::chrono::seconds{1});
  CHECK(told.text.empty());
  poller.expire(begun + std::chrono::seconds{2});
  poller.expire(begun + std::chrono::seconds{3});
  CHECK(told.text == "look ");
  ::shutdown(one.peer.get(), SHUT_WR);
  poller.dispatch();
  poller.dispatch();
  CHECK(told.text == "look ended ");
  CHECK_FALSE(one.source->broken());
  one.peer.reset();
  poller.dispatch();
  poller.dispatch();
  CHECK(told.text == "look ended lost ");
  CHECK(one.source->broken());
}

TEST_CASE("Poller: who no longer watches a peer is told nothing", "[net][poller]") {
  struct Told final : PeerWatcher {
    void peer_ended() noexcept override { ++calls; }
    void peer_lost() noexcept override { ++calls; }
    void look() noexcept override { ++calls; }
    int calls = 0;
  } told;
  Poller poller;
  Watched one(poller);
  once_readable(*one.source, [&](Wake) { one.take(); });
  write_text(one.peer, "x");
  REQUIRE(poller.dispatch() == 1);
  one.source->watch_peer(&told);
  one.source->look_at(SteadyTime{});
  one.source->watch_peer(nullptr);
  one.peer.reset();
  poller.dispatch();
  poller.expire(SteadyTime{} + std::chrono::seconds{1});
  CHECK(told.calls == 0);
}

TEST_CASE("Poller: reader and writer of one socket wait independently", "[net][poller]") {
  Poller poller;
  Watched one(poller);
  bool read = false;
  bool written = false;
  once_readable(*one.source, [&](Wake) { read = true; });
  once_writable(*one.source, [&](Wake) { written = true; });
  poller.dispatch();
  CHECK(written);
  CHECK_FALSE(read);
  write_text(one.peer, "x");
  poller.dispatch();
  CHECK(read);
}

TEST_CASE("Poller: a broken connection wakes reader and writer", "[net][poller]") {
  Poller poller;
  Watched one(poller);
  int wakes = 0;
  once_readable(*one.source, [&](Wake) { ++wakes; });
  once_writable(*one.source, [&](Wake) { ++wakes; });
  one.peer.reset();
  poller.dispatch();
  CHECK(wakes == 2);
}

TEST_CASE("Poller: coroutines are woken in the order in which their sockets became ready", "[net][poller]") {
  Poller poller;
  std::vector<std::unique_ptr<Watched>> all;
  std::vector<int> order;
  for (int i = 0; i < 3; ++i) {
    all.push_back(std::make_unique<Watched>(poller));
    once_readable(*all.back()->source, [&order, i](Wake) { order.push_back(i); });
  }
  for (const int i : {2, 0, 1}) {
    write_text(all[static_cast<std::size_t>(i)]->peer, "x");
  }
  poller.dispatch();
  CHECK(order == std::vector<int>{2, 0, 1});
}

TEST_CASE("Poller: a batch takes its limit, the one beyond comes with the next", "[net][poller]") {
  Poller poller;
  std::vector<std::unique_ptr<Watched>> all;
  std::size_t wakes = 0;
  for (std::size_t i = 0; i < Poller::kBatchMax + 1; ++i) {
    all.push_back(std::make_unique<Watched>(poller));
    Watched& one = *all.back();
    once_readable(*one.source, [&wakes, &one](Wake) {
      one.take();
      ++wakes;
    });
    write_text(one.peer, "x");
  }
  CHECK(poller.dispatch() == Poller::kBatchMax);
  CHECK(wakes == Poller::kBatchMax);
  CHECK(poller.dispatch() == 1);
  CHECK(wakes == Poller::kBatchMax + 1);
}

TEST_CASE("Poller: a deadline that has passed wakes with a time-out, once", "[net][poller]") {
  Poller poller;
  ManualClock clock;
  Watched one(poller);
  one.source->set_deadline(clock.steady_now() + std::chrono::seconds{30});
  std::vector<Wake> wakes;
  [](Source& source, std::vector<Wake>& log) -> Detached {
    log.push_back(co_await source.readable());
    log.push_back(co_await source.readable());
  }(*one.source, wakes);

  clock.advance(std::chrono::seconds{29});
  poller.expire(clock.steady_now());
  CHECK(wakes.empty());
  clock.advance(std::chrono::seconds{1});
  poller.expire(clock.steady_now());
  CHECK(wakes == std::vector<Wake>{Wake::kTimeout});
  CHECK(one.source->deadline() == kNever);
  clock.advance(std::chrono::hours{24});
  poller.expire(clock.steady_now());
  CHECK(wakes.size() == 1);
  write_text(one.peer, "x");
  poller.dispatch();
  CHECK(wakes == std::vector<Wake>{Wake::kTimeout, Wake::kReady});
}

TEST_CASE("Poller: coroutines that time out may destroy other sources and make new ones", "[net][poller]") {
  Poller poller;
  ManualClock clock;
  std::vector<std::unique_ptr<Watched>> all;
  int timed_out = 0;
  for (std::size_t i = 0; i < 10; ++i) {
    all.push_back(std::make_unique<Watched>(poller));
    all.back()->source->set_deadline(clock.steady_now());
    once_readable(*all.back()->source, [&, i](Wake wake) {
      timed_out += wake == Wake::kTimeout ? 1 : 0;
      all[i]->source.reset();
      all.push_back(std::make_unique<Watched>(poller));
    });
  }
  poller.expire(clock.steady_now());
  CHECK(timed_out == 10);
  CHECK(poller.source_count() == 10);
}

TEST_CASE("Poller: draining wakes idle readers only, closing wakes all and lets nobody wait again", "[net][poller]") {
  Poller poller;
  Watched idle(poller);
  Watched busy(poller);
  std::optional<Wake> idle_wake;
  std::optional<Wake> busy_wake;
  std::optional<Wake> writer_wake;
  std::optional<Wake> late_wake;
  for (char c = 0; ::send(busy.ours.get(), &c, 1, MSG_NOSIGNAL) == 1;) {
  }
  once_readable(
      *idle.source, [&](Wake wake) { idle_wake = wake; }, true);
  once_readable(*busy.source, [&](Wake wake) { busy_wake = wake; });
  once_writable(*busy.source, [&](Wake wake) { writer_wake = wake; });

  poller.enter(Phase::kDraining);
  CHECK(idle_wake == Wake::kShutdown);
  CHECK_FALSE(busy_wake);
  CHECK_FALSE(writer_wake);
  idle_wake.reset();
  once_readable(
      *idle.source, [&](Wake wake) { idle_wake = wake; }, true);
  CHECK(idle_wake == Wake::kShutdown);

  poller.enter(Phase::kClosing);
  CHECK(busy_wake == Wake::kShutdown);
  CHECK(writer_wake == Wake::kShutdown);
  once_readable(*busy.source, [&](Wake wake) { late_wake = wake; });
  CHECK(late_wake == Wake::kShutdown);
}

TEST_CASE("Poller: a coroutine goes on in the diag context it was suspended in, and the loop in its own",
          "[net][poller]") {
  Poller poller;
  Watched one(poller);
  const diag::Context own{.connection = 12, .transaction = 345};
  const diag::Context* seen = nullptr;
  {
    const diag::Scope scope(&own);
    once_readable(*one.source, [&](Wake) { seen = diag::current_context(); });
  }
  write_text(one.peer, "x");
  poller.dispatch();
  CHECK(seen == &own);
  CHECK(diag::current_context() == nullptr);
}

}  // namespace
}  // namespace telltale::net
