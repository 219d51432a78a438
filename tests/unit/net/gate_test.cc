// SPDX-License-Identifier: Apache-2.0
#include "net/gate.h"

#include <catch2/catch.hpp>
#include <memory>
#include <optional>
#include <vector>

#include "tests/unit/net/on_worker.h"

namespace telltale::net {
namespace {

using namespace std::chrono_literals;
using test::OnWorker;

Detached pass(Gate& gate, std::optional<Wake>& wake, SteadyTime deadline = kNever) {
  wake = co_await gate.wait(deadline);
}

TEST_CASE("Gate: opened before the wait, it does not suspend, and passes one wait only", "[net][gate]") {
  OnWorker on;
  Gate gate(on.worker());
  std::optional<Wake> first;
  std::optional<Wake> second;
  on.call([&] {
    gate.open();
    gate.open();
    pass(gate, first);
    CHECK(first == Wake::kReady);
    pass(gate, second);
    CHECK_FALSE(second);
  });
  on.join();
  CHECK(second == Wake::kShutdown);
}

TEST_CASE("Gate: opened after the wait, the coroutine goes on later, never within open", "[net][gate]") {
  OnWorker on;
  Gate gate(on.worker());
  std::optional<Wake> wake;
  on.call_and_settle([&] {
    pass(gate, wake);
    gate.open();
    gate.open();
    CHECK_FALSE(wake);
  });
  CHECK(on.call([&] { return wake; }) == Wake::kReady);
}

TEST_CASE("Gate: waiters go on in the order in which their gates were opened", "[net][gate]") {
  OnWorker on;
  std::vector<std::unique_ptr<Gate>> gates;
  std::vector<int> order;
  on.call_and_settle([&] {
    for (int i = 0; i < 4; ++i) {
      gates.push_back(std::make_unique<Gate>(on.worker()));
      [](Gate& gate, std::vector<int>& log, int n) -> Detached {
        (void)co_await gate.wait();
        log.push_back(n);
      }(*gates.back(), order, i);
    }
    for (const std::size_t i : {2U, 0U, 3U, 1U}) {
      gates[i]->open();
    }
  });
  CHECK(on.call([&] { return order; }) == std::vector<int>{2, 0, 3, 1});
}

TEST_CASE("Gate: a hundred thousand waiters that each open the next do not grow the stack", "[net][gate]") {
  OnWorker on;
  std::vector<std::unique_ptr<Gate>> gates;
  std::promise<void> last;
  on.worker().post([&] {
    for (std::size_t i = 0; i < 100'000; ++i) {
      gates.push_back(std::make_unique<Gate>(on.worker()));
      [](std::vector<std::unique_ptr<Gate>>& all, std::size_t n, std::promise<void>& end) -> Detached {
        (void)co_await all[n]->wait();
        if (n + 1 < all.size()) {
          all[n + 1]->open();
        } else {
          end.set_value();
        }
      }(gates, i, last);
    }
    gates.front()->open();
  });
  last.get_future().get();
  on.join();
}

TEST_CASE("Gate: a wait ends with a time-out at its deadline", "[net][gate]") {
  OnWorker on;
  Gate gate(on.worker());
  std::optional<Wake> wake;
  on.call([&] { pass(gate, wake, on.worker().now() + 5s); });
  on.advance(4s);
  CHECK_FALSE(on.call([&] { return wake; }));
  on.advance(1s);
  CHECK(on.call([&] { return wake; }) == Wake::kTimeout);
}

TEST_CASE("Gate: another thread opens it through a post", "[net][gate]") {
  OnWorker on;
  Gate gate(on.worker());
  std::promise<Wake> woken;
  on.call([&] {
    [](Gate& at, std::promise<Wake>& result) -> Detached { result.set_value(co_await at.wait()); }(gate, woken);
  });
  on.worker().post([&] { gate.open(); });
  CHECK(woken.get_future().get() == Wake::kReady);
}

TEST_CASE("Gate: the waiter goes on in its own diag context, not in the opener's", "[net][gate]") {
  OnWorker on;
  Gate gate(on.worker());
  const diag::Context waiter{.connection = 1};
  const diag::Context opener{.connection = 2};
  const diag::Context* seen = nullptr;
  on.call_and_settle([&] {
    {
      const diag::Scope scope(&waiter);
      [](Gate& at, const diag::Context*& context) -> Detached {
        (void)co_await at.wait();
        context = diag::current_context();
      }(gate, seen);
    }
    const diag::Scope scope(&opener);
    gate.open();
  });
  CHECK(on.call([&] { return seen; }) == &waiter);
}

}  // namespace
}  // namespace telltale::net
