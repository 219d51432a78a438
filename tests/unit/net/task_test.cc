// SPDX-License-Identifier: Apache-2.0
#include "net/task.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "net/waiter.h"

namespace telltale::net {
namespace {

constexpr int kMillion = 1'000'000;

struct Park {
  Waiter& waiter;
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> coroutine) const noexcept { waiter.suspend(coroutine); }
  Wake await_resume() const noexcept { return waiter.reason(); }
};

Task<int> at_once(int value) {
  co_return value;
}

Task<int> after_waiting(Waiter& waiter, int value) {
  co_await Park{waiter};
  co_return value;
}

TEST_CASE("Task: a million children that return at once do not grow the stack", "[net][task]") {
  long long sum = 0;
  bool ended = false;
  [](long long& total, bool& done) -> Detached {
    for (int i = 0; i < kMillion; ++i) {
      total += co_await at_once(i);
    }
    done = true;
  }(sum, ended);
  CHECK(ended);
  CHECK(sum == 499'999'500'000LL);
}

TEST_CASE("Task: a task that is ready gives its value without suspending its awaiter", "[net][task]") {
  std::unique_ptr<std::string> text;
  long long sum = 0;
  bool ended = false;
  const std::size_t retained = FrameList::retained_bytes();
  [](std::unique_ptr<std::string>& out, long long& total, bool& done) -> Detached {
    out = co_await Task<std::unique_ptr<std::string>>::ready(std::make_unique<std::string>("moved"));
    co_await Task<void>::ready();
    for (int i = 0; i < kMillion; ++i) {
      total += co_await Task<int>::ready(i);
    }
    done = true;
  }(text, sum, ended);
  CHECK(ended);
  REQUIRE(text);
  CHECK(*text == "moved");
  CHECK(sum == 499'999'500'000LL);
  CHECK(FrameList::retained_bytes() == retained);
}

TEST_CASE("Task: a million children that suspend do not grow the stack", "[net][task]") {
  Waiter waiter;
  long long sum = 0;
  bool ended = false;
  [](Waiter& at, long long& total, bool& done) -> Detached {
    for (int i = 0; i < kMillion; ++i) {
      total += co_await after_waiting(at, i);
    }
    done = true;
  }(waiter, sum, ended);
  int resumes = 0;
  while (waiter.waiting()) {
    waiter.resume(Wake::kReady);
    ++resumes;
  }
  CHECK(ended);
  CHECK(resumes == kMillion);
  CHECK(sum == 499'999'500'000LL);
}

Task<int> sometimes(Waiter& waiter, int value) {
  if (value % 3 == 0) {
    co_return co_await after_waiting(waiter, value);
  }
  co_return co_await at_once(value);
}

TEST_CASE("Task: children that suspend and children that do not may alternate", "[net][task]") {
  Waiter waiter;
  long long sum = 0;
  [](Waiter& at, long long& total) -> Detached {
    for (int i = 0; i < kMillion; ++i) {
      total += co_await sometimes(at, i);
    }
  }(waiter, sum);
  while (waiter.waiting()) {
    waiter.resume(Wake::kReady);
  }
  CHECK(sum == 499'999'500'000LL);
}

struct Counted {
  explicit Counted(int& count) : count_(&count) { ++*count_; }
  Counted(Counted&& other) noexcept : count_(std::exchange(other.count_, nullptr)) {}
  Counted(const Counted&) = delete;
  ~Counted() {
    if (count_ != nullptr) {
      --*count_;
    }
  }
  int* count_;
};

Task<Counted> make_counted(Waiter& waiter, int& count) {
  const Counted local(count);
  co_await Park{waiter};
  co_return Counted(count);
}

TEST_CASE("Task: every frame and result is destroyed, also of tasks never awaited or never finished", "[net][task]") {
  int count = 0;
  Waiter waiter;
  { const auto never_awaited = make_counted(waiter, count); }
  [](Waiter& at, int& n) -> Detached { const Counted result = co_await make_counted(at, n); }(waiter, count);
  CHECK(count == 1);
  waiter.resume(Wake::kReady);
  CHECK(count == 0);
}

TEST_CASE("Task: move-only and void results pass", "[net][task]") {
  std::vector<std::string> log;
  [](std::vector<std::string>& lines) -> Detached {
    const auto text =
        co_await []() -> Task<std::unique_ptr<std::string>> { co_return std::make_unique<std::string>("moved"); }();
    co_await [](std::vector<std::string>& to, const std::string& line) -> Task<> {
      to.push_back(line);
      co_return;
    }(lines, *text);
  }(log);
  CHECK(log == std::vector<std::string>{"moved"});
}

TEST_CASE("Detached: live counts those that have begun and not ended", "[net][task]") {
  const std::size_t before = Detached::live();
  Waiter waiter;
  [](Waiter& at) -> Detached { co_await Park{at}; }(waiter);
  CHECK(Detached::live() == before + 1);
  waiter.resume(Wake::kReady);
  CHECK(Detached::live() == before);
}

TEST_CASE("Detached: the caller's diag context is current again when it suspends with a scope open", "[net][task]") {
  const diag::Context outer{.connection = 1};
  const diag::Context inner{.connection = 2};
  Waiter waiter;
  std::vector<const diag::Context*> seen;
  const diag::Scope scope(&outer);
  [](Waiter& at, const diag::Context& own, std::vector<const diag::Context*>& contexts) -> Detached {
    const diag::Scope own_scope(&own);
    co_await [](Waiter& leaf) -> Task<> { co_await Park{leaf}; }(at);
    contexts.push_back(diag::current_context());
  }(waiter, inner, seen);
  CHECK(diag::current_context() == &outer);
  waiter.resume(Wake::kReady);
  CHECK(diag::current_context() == &outer);
  CHECK(seen == std::vector<const diag::Context*>{&inner});
}

}  // namespace
}  // namespace telltale::net
