// SPDX-License-Identifier: Apache-2.0
#include <telltale/diag/dbg.h>
#include <telltale/diag/debug_control.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/unit/diag/debug_state.h"

namespace telltale::diag {
namespace {

constexpr DbgCtl race_dbg{"test_race_a"};

// Controls that are older than main, and asked by a destructor after it.
RuntimeControl static_control("test_static");
struct Member {
  RuntimeControl control{"test_static_member"};
  bool on_in_constructor = control.on();
  ~Member() { (void)control.on(); }
};
Member member;

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int kSlow = 10;
#else
constexpr int kSlow = 1;
#endif

}  // namespace

TEST_CASE("Registry: run-time controls work in static constructors, members and locals", "[diag][registry]") {
  CleanDebug clean;
  CHECK_FALSE(member.on_in_constructor);
  RuntimeControl local("test_static_local");
  REQUIRE(set_base({Mode::kOn, "test_static", ""}));
  CHECK(static_control.on());
  CHECK(member.control.on());
  CHECK(local.on());
  CHECK(local.tag() == "test_static_local");
  RuntimeControl later("test_static_later");  // the pattern in force applies to what comes later
  CHECK(later.on());
  {
    RuntimeControl first("test_static_x"), second("test_static_x"), third("test_static_x");
    CHECK((first.on() && second.on() && third.on()));
  }
  REQUIRE(set_base({}));
  CHECK_FALSE((static_control.on() || member.control.on() || local.on() || later.on()));
}

TEST_CASE("Registry: setting what is already set walks no control, unsetting it walks once", "[diag][registry]") {
  CleanDebug clean;
  REQUIRE(set_base({Mode::kOn, "test_walk", ""}));
  std::uint64_t walks = control_counters().walks;
  REQUIRE(set_base({Mode::kOn, "test_walk", ""}));
  CHECK(control_counters().walks == walks);
  REQUIRE(set_base({}));
  CHECK(control_counters().walks == walks + 1);
  REQUIRE(set_base({}));
  CHECK(end_leases() == 0);
  CHECK(control_counters().walks == walks + 1);
}

TEST_CASE("Registry: a tag made during a change ends as the pattern in force says", "[diag][registry]") {
  CleanDebug clean;
  // Patterns that match nothing: making a tag takes long, and most changes come in the middle of it.
  for (int i = 0; i < 40; ++i) REQUIRE(open_lease({"(test_)+(x|y|z)*[0-9]+_none", "", true}));
  constexpr std::size_t kMakers = 2, kEach = 1500 / kSlow;
  std::vector<std::unique_ptr<RuntimeControl>> made[kMakers];
  std::atomic<std::size_t> published[kMakers]{};
  std::thread makers[kMakers];
  for (std::size_t m = 0; m < kMakers; ++m) {
    made[m].resize(kEach);
    makers[m] = std::thread([&, m] {
      for (std::size_t i = 0; i < kEach; ++i) {
        const char* tag = i % 2 == 0 ? "test_race_a" : "test_race_b";
        made[m][i] = std::make_unique<RuntimeControl>(tag + std::to_string(m) + "_" + std::to_string(i));
        published[m].store(i + 1, std::memory_order_release);
      }
    });
  }
  std::size_t wrong = 0, changes = 0;
  bool a = false;
  auto check = [&] {
    std::size_t checked = 0;
    for (std::size_t m = 0; m < kMakers; ++m) {
      std::size_t count = published[m].load(std::memory_order_acquire);
      for (std::size_t i = 0; i < count; ++i) wrong += made[m][i]->on() != made[m][i]->tag().starts_with(a ? "test_race_a" : "test_race_b");
      checked += count;
    }
    return checked;
  };
  for (std::size_t checked = 0; checked < kMakers * kEach; ++changes) {
    a = changes % 2 == 0;
    if (!set_base({Mode::kOn, a ? "test_race_a" : "test_race_b", ""})) FAIL("refused");
    // Until some that were begun before the change are there.
    std::size_t enough = std::min(checked + 4, kMakers * kEach);
    while ((checked = check()) < enough) std::this_thread::yield();
  }
  for (std::thread& maker : makers) maker.join();
  CHECK(wrong == 0);
  // A few of them only: the table of string tags has an end, and other tests need it too.
  for (std::size_t i = 0; i < 100; ++i) {
    std::string_view tag = made[0][i]->tag();
    if (string_tag_wanted(tag, false) != tag.starts_with(a ? "test_race_a" : "test_race_b")) ++wrong;
  }
  CHECK(wrong == 0);
}

TEST_CASE("Registry: threads log, controls come and go, and tags, modes and leases change, all at once", "[diag][registry]") {
  CleanDebug clean;
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      while (!stop.load()) {
        Dbg(race_dbg, "thread {}", t);
        SpecificDbg(t % 2 == 0, race_dbg, "specific {}", t);
        (void)static_control.on();
        (void)string_tag_wanted("test_race_string", t % 2 == 0);
        std::this_thread::yield();
      }
    });
  }
  threads.emplace_back([&] {
    while (!stop.load()) {
      RuntimeControl one("test_race_one"), two("test_race_two");
      (void)one.on();
      (void)tags();
      std::this_thread::yield();
    }
  });
  std::size_t refused = 0;
  for (int i = 0; i < 1000 / kSlow; ++i) {
    Mode mode = static_cast<Mode>(i % 4);
    refused += !set_base({mode, i % 3 == 0 ? "test_race" : "test_static", "127.0.0.1"});
    if (i % 5 == 0) refused += !open_lease({"test_race", i % 2 == 0 ? "" : "::1", i % 15 != 0});
    if (i % 20 == 0) end_leases();
  }
  CHECK(refused == 0);
  end_leases();
  REQUIRE(set_base({Mode::kOn, "test_race", ""}));
  bool written = false;
  Dbg(race_dbg, "{}", written = true);
  CHECK(written);
  CHECK_FALSE(static_control.on());
  stop = true;
  for (std::thread& thread : threads) thread.join();
}

#ifndef __SANITIZE_THREAD__  // which does not follow a fork of a process with threads
TEST_CASE("Registry: a forked child logs and ends, whatever other threads were doing", "[diag][registry]") {
  CleanDebug clean;
  REQUIRE(set_base({Mode::kOn, "test_race", ""}));
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    for (int i = 0; !stop.load(); ++i) {
      RuntimeControl control("test_race_fork");
      (void)string_tag_wanted("test_race_" + std::to_string(i % 100), false);
      (void)set_base({Mode::kOn, i % 2 == 0 ? "test_race" : "test_race|x", ""});
    }
  });
  for (int i = 0; i < 100 / kSlow; ++i) {
    pid_t child = fork();
    if (child == 0) {
      alarm(20);  // a lock that nobody gives back
      Dbg(race_dbg, "from the child");
      RuntimeControl control("test_race_child");
      _exit(control.on() && string_tag_wanted("test_race_child", false) ? 0 : 1);
    }
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
  stop = true;
  busy.join();
}
#endif

}  // namespace telltale::diag
