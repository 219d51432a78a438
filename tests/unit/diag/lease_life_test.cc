// SPDX-License-Identifier: Apache-2.0
// How a lease ends: by its time, by its lines, by its number, by all off. And what else one carries.
#include <telltale/diag/dbg.h>
#include <telltale/diag/debug_control.h>
#include <telltale/diag/lease.h>
#include <telltale/diag/scope.h>

#include <atomic>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/unit/diag/debug_state.h"
#include "tests/unit/diag/output_capture.h"

namespace telltale::diag {
namespace {

using namespace std::chrono_literals;

constexpr DbgCtl life_dbg{"life_a"};
constexpr DbgCtl other_dbg{"life_b"};

bool line(int n = 1) {
  bool written = false;
  for (int i = 0; i < n; ++i) {
    written = false;
    Dbg(life_dbg, "line {}", written = true);
  }
  return written;
}

const std::chrono::steady_clock::time_point kStart{1000s};

}  // namespace

TEST_CASE("Leases: time is up at the end and not a millisecond before, and a line says so", "[diag][lease]") {
  CleanDebug clean;
  Capture capture;
  auto lease = open_lease({.tags = "life_a", .duration = 30s, .owner = "uid 7", .reason = "a reason"}, kStart);
  REQUIRE(lease);
  CHECK(next_lease_end() == kStart + 30s);
  CHECK(expire_leases(kStart + 29'999ms).empty());
  CHECK(line());
  auto ended = expire_leases(kStart + 30s);
  REQUIRE(ended.size() == 1);
  CHECK(ended[0].why == LeaseEnd::kTime);
  CHECK(ended[0].lease.id == lease->lease.id);
  CHECK(ended[0].lease.lines == 1);
  CHECK_FALSE(line());
  CHECK(leases().empty());
  CHECK_FALSE(next_lease_end());
  CHECK_THAT(capture.text(),
             Catch::Contains("its time is up; lines: 1, tags \"life_a\", rules \"\", opened by uid 7\n"));
}

TEST_CASE("Leases: of a limit of lines exactly so many are written, whichever threads write them", "[diag][lease]") {
  CleanDebug clean;
  struct Woken {
    static void notify(void* with) noexcept { static_cast<std::atomic<int>*>(with)->fetch_add(1); }
  };
  std::atomic<int> woken{0};
  on_lease_spent(Woken::notify, &woken);
  REQUIRE(open_lease({.tags = "life_a", .max_lines = 1000}, kStart));
  std::atomic<int> written{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) written += line();
    });
  }
  for (std::thread& thread : threads) thread.join();
  on_lease_spent(nullptr, nullptr);
  CHECK(written == 1000);
  CHECK(woken == 1);
  CHECK(leases().at(0).lines == 1000);
  CHECK_FALSE(line());
  auto ended = expire_leases(kStart);
  REQUIRE(ended.size() == 1);
  CHECK(ended[0].why == LeaseEnd::kLines);
  CHECK(ended[0].lease.lines == 1000);
  CHECK(leases().empty());
}

TEST_CASE("Leases: a spent lease does not silence what the base or another lease asks for", "[diag][lease]") {
  CleanDebug clean;
  REQUIRE(open_lease({.tags = "life_a", .max_lines = 2}, kStart));
  CHECK(line(2));
  CHECK_FALSE(line());
  REQUIRE(open_lease({.tags = "life", .append = true}, kStart));
  CHECK(line());
  CHECK(leases().at(1).lines == 1);
  end_leases();
  REQUIRE(open_lease({.tags = "life_a", .max_lines = 1}, kStart));
  REQUIRE(set_base({Mode::kOn, "life_a", ""}));
  CHECK(line(5));
}

TEST_CASE("Leases: the question whether a control is on spends no line, the line does", "[diag][lease]") {
  CleanDebug clean;
  RuntimeControl control("life_a");
  REQUIRE(open_lease({.tags = "life_a", .max_lines = 2}, kStart));
  for (int i = 0; i < 10; ++i) CHECK(control.on());
  Place place{"f.cc", "run", "text", 1, nullptr};
  CHECK(control.on_at(place));
  CHECK(string_tag_wanted_at("life_a", place, false));
  CHECK_FALSE(control.on_at(place));
  CHECK_FALSE(control.on());
}

TEST_CASE("Leases: one is ended by its number, and the others stay", "[diag][lease]") {
  CleanDebug clean;
  auto a = open_lease({.tags = "life_a"}), b = open_lease({.tags = "life_b", .append = true});
  REQUIRE((a && b));
  auto ended = end_lease(a->lease.id);
  REQUIRE(ended);
  CHECK(ended->tags == "life_a");
  CHECK_FALSE(line());
  bool other = false;
  Dbg(other_dbg, "{}", other = true);
  CHECK(other);
  CHECK_FALSE(end_lease(a->lease.id));
  CHECK_FALSE(end_lease(0));
  CHECK(leases().size() == 1);
}

TEST_CASE("Leases: one takes another's place in the same change, or is refused and changes nothing", "[diag][lease]") {
  CleanDebug clean;
  auto a = open_lease({.tags = "life_a"}), b = open_lease({.tags = "life_b", .append = true});
  REQUIRE((a && b));
  REQUIRE(open_lease({.tags = "life_a|x", .replaces = a->lease.id}));
  CHECK(line());
  REQUIRE(leases().size() == 2);
  CHECK(leases()[0].id == b->lease.id);
  auto refused = open_lease({.tags = "y", .replaces = a->lease.id});
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().what, Catch::Contains("is open"));
  CHECK_FALSE(open_lease({.tags = "(", .replaces = b->lease.id}));
  CHECK(leases().size() == 2);
}

TEST_CASE("Leases: durations and texts have limits", "[diag][lease]") {
  CleanDebug clean;
  CHECK(open_lease({.tags = "a", .duration = kLeaseDurationMax, .reason = std::string(kLeaseTextBytesMax, 'r')}));
  CHECK_FALSE(open_lease({.tags = "a", .duration = kLeaseDurationMax + 1ms}));
  CHECK_FALSE(open_lease({.tags = "a", .duration = 0ms}));
  CHECK_FALSE(open_lease({.tags = "a", .reason = std::string(kLeaseTextBytesMax + 1, 'r')}));
  CHECK_FALSE(open_lease({.tags = "a", .owner = std::string(kLeaseTextBytesMax + 1, 'o')}));
  CHECK(leases().size() == 1);
}

TEST_CASE("Leases: a thousand are opened and ended, and each number is used again by one alone", "[diag][lease]") {
  CleanDebug clean;
  for (int i = 0; i < 1000; ++i) {
    auto lease = open_lease({.tags = "life_a", .append = true, .max_lines = 3});
    REQUIRE(lease);
    REQUIRE(line(3));
    REQUIRE_FALSE(line());
    REQUIRE(end_lease(lease->lease.id)->lines == 3);
  }
}

TEST_CASE("All off: the base, every lease and every kind of lease end in one change", "[diag][lease]") {
  CleanDebug clean;
  REQUIRE(set_base({Mode::kOn, "life_a", "", "tag=life_b"}));
  REQUIRE(open_lease({.tags = "life"}));
  REQUIRE(open_lease({.tags = ".*", .kind = LeaseKind::kFollow}));
  REQUIRE(open_lease({.tags = ".*", .kind = LeaseKind::kCount}));
  CHECK(leases().size() == 3);
  CHECK(all_off() == 3);
  CHECK_FALSE(line());
  CHECK(leases().empty());
  CHECK(base() == Base{Mode::kOff, "life_a", "", "tag=life_b"});
  CHECK(all_off() == 0);
  // What was configured comes back when it is switched on again.
  REQUIRE(set_base({Mode::kOn, "life_a", "", "tag=life_b"}));
  CHECK(line());
}

TEST_CASE("Follow: prints for the contexts that carry its id, and for no other", "[diag][lease]") {
  CleanDebug clean;
  auto lease = open_lease({.tags = "life", .kind = LeaseKind::kFollow});
  REQUIRE(lease);
  Context followed{.followed = lease->lease.id}, other{.followed = lease->lease.id + 1}, none{};
  CHECK_FALSE(line());
  for (const Context* context : {&other, &none}) {
    Scope scope(context);
    CHECK_FALSE(line());
    CHECK_FALSE(string_tag_wanted("life_a", false));
  }
  Scope scope(&followed);
  CHECK(line());
  CHECK(string_tag_wanted("life_a", false));
  CHECK_FALSE(string_tag_wanted("no_life", false));
  REQUIRE(open_lease({.tags = "x"}));  // replaces printing leases, not this one
  CHECK(line());
  REQUIRE(end_lease(lease->lease.id));
  CHECK_FALSE(line());
}

}  // namespace telltale::diag
