// SPDX-License-Identifier: Apache-2.0
// Time of day from ticks, with clocks made up by the test.
#include <catch2/catch.hpp>

#include "lib/diag/src/ticks.h"

using namespace telltale::diag;

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

// Three clocks that agree: ticks run at `per_ns` a nanosecond, time of day starts at 1000 s.
ClockSample at(double seconds, double per_ns, std::int64_t wall_offset_ns = 0) {
  auto ns = static_cast<std::int64_t>(seconds * 1e9);
  return {static_cast<std::uint64_t>(static_cast<double>(ns) * per_ns) + 12345, ns, 1000 * kSecond + ns + wall_offset_ns};
}

struct AsCounter {
  bool former = ticks_are_tsc;
  explicit AsCounter(bool tsc) { ticks_are_tsc = tsc; }
  ~AsCounter() { ticks_are_tsc = former; }
};

}  // namespace

TEST_CASE("WallClock: learns a counter's rate and tells the time between samples", "[diag][ticks]") {
  AsCounter counter(true);
  for (double per_ns : {0.1, 1.0, 2.45, 5.0}) {
    WallClock clock(at(0, per_ns));
    for (int i = 1; i <= 300; ++i) CHECK_FALSE(clock.add(at(i * 0.1, per_ns)));
    CHECK(clock.ns_per_tick() == Approx(1 / per_ns));
    for (double seconds : {29.95, 30.0, 30.03}) {
      std::int64_t error = clock.wall_ns(at(seconds, per_ns).ticks) - at(seconds, per_ns).wall_ns;
      CHECK(std::abs(error) < 100);
    }
  }
}

TEST_CASE("WallClock: where ticks are nanoseconds, nothing is estimated", "[diag][ticks]") {
  AsCounter counter(false);
  WallClock clock(at(0, 1));
  CHECK(clock.ns_per_tick() == 1.0);
  CHECK_FALSE(clock.add(at(0.0000001, 1)));
  CHECK(clock.wall_ns(at(5, 1).ticks) == at(5, 1).wall_ns);
}

TEST_CASE("WallClock: tells of a stepped clock, and keeps the old time for what was before", "[diag][ticks]") {
  AsCounter counter(true);
  WallClock clock(at(0, 2));
  CHECK_FALSE(clock.add(at(1, 2)));
  std::optional<std::int64_t> step = clock.add(at(2, 2, -3600 * kSecond));
  REQUIRE(step);
  CHECK(*step == -3600 * kSecond);
  CHECK(std::abs(clock.wall_ns(at(1.5, 2).ticks) - at(1.5, 2).wall_ns) < 100);
  CHECK(std::abs(clock.wall_ns(at(2.5, 2).ticks) - at(2.5, 2, -3600 * kSecond).wall_ns) < 100);
  // Slewing by half a millisecond a second is no step.
  CHECK_FALSE(clock.add(at(3, 2, -3600 * kSecond + 500'000)));
}

TEST_CASE("ticks: never run backwards within a thread", "[diag][ticks]") {
  choose_ticks();
  std::uint64_t last = ticks_now();
  for (int i = 0; i < 100'000; ++i) {
    std::uint64_t now = ticks_now();
    REQUIRE(now >= last);
    last = now;
  }
}
