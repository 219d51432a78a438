// SPDX-License-Identifier: Apache-2.0
// A lease that writes more than it may: what is taken back, in which order, and what is said of it.
#include <telltale/diag/dbg.h>
#include <telltale/diag/debug_control.h>
#include <telltale/diag/lease.h>
#include <telltale/diag/site_list.h>

#include <catch2/catch.hpp>

#include <algorithm>

#include "tests/unit/diag/debug_state.h"
#include "tests/unit/diag/output_capture.h"

namespace telltale::diag {
namespace {

using namespace std::chrono_literals;

constexpr DbgCtl rate_dbg{"rate_a"};
constexpr DbgCtl other_dbg{"rate_b"};
constexpr unsigned kLoudLine = __LINE__ + 3;
bool loud() {
  bool written = false;
  Dbg(rate_dbg, "loud {}", written = true);
  return written;
}
bool less_loud() {
  bool written = false;
  Dbg(rate_dbg, "less loud {}", written = true);
  return written;
}
bool quiet() {
  bool written = false;
  Dbg(other_dbg, "quiet {}", written = true);
  return written;
}
template <class Line>
void times(int n, Line line) {
  for (int i = 0; i < n; ++i) (void)line();
}

const std::chrono::steady_clock::time_point kStart{1000s};

std::vector<std::string> with(const std::vector<std::string>& lines, const std::string& part) {
  std::vector<std::string> found;
  for (const std::string& line : lines) {
    if (line.find(part) != std::string::npos) found.push_back(line);
  }
  return found;
}

}  // namespace

TEST_CASE("Lease rates: as many lines at once as may be written in a second, and that many a second more", "[diag][lease]") {
  CleanDebug clean;
  CHECK_FALSE(next_rate_check());
  REQUIRE(open_lease({.tags = "rate_", .max_rate = 1000}, kStart));
  CHECK(next_rate_check() == kStart + kRateCheckEvery);
  times(1000, loud);
  CHECK(limit_leases(kStart + 1ms) == 0);
  times(99, loud);
  CHECK(limit_leases(kStart + 100ms) == 0);
  for (int second = 1; second <= 5; ++second) {
    times(1000, loud);
    CHECK(limit_leases(kStart + 100ms + std::chrono::seconds(second)) == 0);
  }
  CHECK(loud());
  CHECK(next_rate_check() == kStart + 5100ms + kRateCheckEvery);
}

TEST_CASE("Lease rates: the noisiest goes first, the rest goes on, and everything says so", "[diag][lease]") {
  CleanDebug clean;
  Capture capture;
  auto lease = open_lease({.tags = "rate_", .max_rate = 1000}, kStart);
  REQUIRE(lease);
  times(900, loud);
  times(60, less_loud);
  times(50, quiet);
  CHECK(limit_leases(kStart + 1ms) == 1);
  CHECK_FALSE(loud());
  CHECK_FALSE(less_loud());  // 110 lines in the shortest time that is measured are above the rate too
  CHECK(quiet());
  (void)end_leases();
  (void)capture.lines();

  lease = open_lease({.tags = "rate_", .owner = "uid 7", .max_rate = 1000}, kStart);
  REQUIRE(lease);
  times(1900, loud);
  times(60, less_loud);
  times(50, quiet);
  CHECK(limit_leases(kStart + 1s) == 1);
  CHECK_FALSE(loud());
  CHECK(less_loud());
  CHECK(quiet());
  std::vector<std::string> said = with(capture.lines(), "NOTE");
  REQUIRE(said.size() == 1);
  CHECK_THAT(said[0], Catch::Contains(fmt::format("debug lease {} writes more than its 1000 lines/s; taken back from it: file=",
                                                  lease->lease.id)) &&
                          Catch::Contains(fmt::format("lease_rate_test.cc line={} module=unit_diag (1900 lines/s)", kLoudLine)));
  Lease now = leases().at(0);
  CHECK(now.rules.empty());
  REQUIRE(now.taken_back.size() == 1);
  CHECK(now.taken_back[0].lines_per_s == Approx(1900));

  auto list = sites({.tags = "rate_a", .why = true});
  REQUIRE(list);
  REQUIRE(list->sites.size() == 2);
  std::sort(list->sites.begin(), list->sites.end(), [](const SiteState& a, const SiteState& b) { return a.line < b.line; });
  CHECK(list->sites[0].state == SiteIs::kOff);
  CHECK_THAT(list->sites[0].why[1].decided, Catch::StartsWith("rule 1: -file=") &&
                                                Catch::EndsWith(" (taken back at 1900 lines/s: the lease may have 1000)"));
  CHECK(list->sites[1].state == SiteIs::kOn);
  CHECK(list->sites[1].why[1].decided == "tags: tag=rate_");

  // And again, if that was not enough.
  times(3000, less_loud);
  CHECK(limit_leases(kStart + 2s) == 1);
  CHECK_FALSE(less_loud());
  CHECK(quiet());
  CHECK(leases().at(0).taken_back.size() == 2);
}

TEST_CASE("Lease rates: calls that name their tag at run time are taken back too", "[diag][lease]") {
  CleanDebug clean;
  const RuntimeControl control("rate.run+time");
  auto here = [&](std::string_view text, std::uint32_t line) {
    return control.on_at({.file = "plugin x.cc", .function = "f", .format = text, .line = line});
  };
  REQUIRE(open_lease({.tags = "rate", .max_rate = 100}, kStart));
  times(300, [&] { return here("a", 1); });
  CHECK(quiet());
  CHECK(limit_leases(kStart + 1s) == 1);
  CHECK_FALSE(here("a", 1));
  CHECK(quiet());
  (void)end_leases();

  REQUIRE(open_lease({.rules = "file=\"plugin x.cc\"", .max_rate = 100}, kStart));
  times(300, [&] { return here("a", 1); });
  CHECK(here("b", 2));
  CHECK(limit_leases(kStart + 1s) == 1);
  CHECK_FALSE(here("a", 1));
  CHECK(here("b", 2));
}

TEST_CASE("Lease rates: one lease's limit leaves the base and other leases alone", "[diag][lease]") {
  CleanDebug clean;
  REQUIRE(open_lease({.tags = "rate_a", .max_rate = 10}, kStart));
  REQUIRE(open_lease({.tags = "rate_b", .append = true}, kStart));
  times(100, loud);
  times(100, quiet);
  CHECK(limit_leases(kStart + 1ms) == 1);
  CHECK_FALSE(loud());
  CHECK(quiet());
  CHECK(leases().at(1).taken_back.empty());
  REQUIRE(set_base({.mode = Mode::kOn, .tags = "rate_a"}));
  CHECK(loud());
  (void)end_leases();
  CHECK(limit_leases(kStart + 1s) == 0);
  CHECK_FALSE(next_rate_check());
}

TEST_CASE("Lease rates: a lease without room for a further rule ends", "[diag][lease]") {
  CleanDebug clean;
  Capture capture;
  std::string rules = "tag=rate_a";
  for (std::size_t i = 1; i < kRulesMax; ++i) rules += fmt::format(";-line={}", 1'000'000 + i);
  REQUIRE(open_lease({.rules = rules, .max_rate = 1}, kStart));
  times(10, loud);
  CHECK(limit_leases(kStart + 1ms) == 1);
  CHECK(leases().empty());
  CHECK(with(capture.lines(), "has too many rules to take more back").size() == 1);
}

TEST_CASE("Lease rates and samples: what is out of range is refused and changes nothing", "[diag][lease]") {
  CleanDebug clean;
  REQUIRE(open_lease({.tags = "rate_b"}, kStart));
  CHECK(open_lease({.tags = "rate_a", .max_rate = kMaxRateMost}, kStart));
  CHECK(open_lease({.tags = "rate_a", .sample = kSampleMost}, kStart));
  for (const LeaseRequest& bad : {LeaseRequest{.tags = "rate_a", .max_rate = kMaxRateMost + 1},
                                  LeaseRequest{.tags = "rate_a", .sample = 0},
                                  LeaseRequest{.tags = "rate_a", .sample = kSampleMost + 1}}) {
    auto refused = open_lease(bad, kStart);
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.error().what, Catch::Contains("expected 1/"));
  }
  CHECK(leases().at(0).sample == kSampleMost);
  CHECK_FALSE(set_base({.mode = Mode::kOn, .tags = "rate_a", .sample = 0}));
}

}  // namespace telltale::diag
