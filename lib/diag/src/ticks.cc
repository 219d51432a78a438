// SPDX-License-Identifier: Apache-2.0
// See ticks.h.
#include "ticks.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace telltale::diag {

constinit bool ticks_are_tsc = false;

namespace {

constinit ClockSample first{};

constexpr std::int64_t kStepNs = 1'000'000;
constexpr std::int64_t kRateBaseNs = 1'000'000;           // shortest stretch a rate is taken from
constexpr std::int64_t kAnchorNs = 10'000'000'000;        // the rate follows over 10 to 20 s

bool kernel_keeps_time_by_tsc() noexcept {
#if defined(__x86_64__)
  unsigned a, b, c, d;
  if (__get_cpuid(0x80000007, &a, &b, &c, &d) == 0 || (d & (1u << 8)) == 0) return false;
  int fd = ::open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char text[8] = {};
  ssize_t n = ::read(fd, text, sizeof text - 1);
  ::close(fd);
  return n >= 3 && std::strcmp(text, "tsc\n") == 0;
#else
  return false;
#endif
}

std::int64_t now_ns(clockid_t clock) noexcept {
  timespec t;
  clock_gettime(clock, &t);
  return static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

}  // namespace

// A thread may be preempted between the clocks; of a few attempts the tightest one is the truest.
ClockSample sample_clocks() noexcept {
  ClockSample best{};
  std::uint64_t narrowest = ~std::uint64_t{0};
  for (int attempt = 0; attempt < 4; ++attempt) {
    std::uint64_t before = ticks_now();
    std::int64_t monotonic = now_ns(CLOCK_MONOTONIC), wall = now_ns(CLOCK_REALTIME);
    std::uint64_t width = ticks_now() - before;
    if (width < narrowest) {
      narrowest = width;
      best = {before + width / 2, monotonic, wall};
    }
  }
  return best;
}

void choose_ticks() noexcept {
  static const bool chosen = [] {
    ticks_are_tsc = kernel_keeps_time_by_tsc();
    first = sample_clocks();
    return true;
  }();
  static_cast<void>(chosen);
}

const ClockSample& first_sample() noexcept { return first; }

WallClock::WallClock(const ClockSample& first_seen) noexcept
    : old_anchor_(first_seen),
      new_anchor_(first_seen),
      previous_(first_seen),
      last_(first_seen),
      ns_per_tick_(ticks_are_tsc ? 1.0 / 3.0 : 1.0) {}

std::optional<std::int64_t> WallClock::add(const ClockSample& sample) noexcept {
  if (ticks_are_tsc && sample.monotonic_ns - old_anchor_.monotonic_ns >= kRateBaseNs) {
    ns_per_tick_ = static_cast<double>(sample.monotonic_ns - old_anchor_.monotonic_ns) /
                   static_cast<double>(sample.ticks - old_anchor_.ticks);
  }
  if (sample.monotonic_ns - new_anchor_.monotonic_ns >= kAnchorNs) {
    old_anchor_ = new_anchor_;
    new_anchor_ = sample;
  }
  std::int64_t step = (sample.wall_ns - last_.wall_ns) - (sample.monotonic_ns - last_.monotonic_ns);
  previous_ = last_;
  last_ = sample;
  if (step > kStepNs || step < -kStepNs) return step;
  return std::nullopt;
}

std::int64_t WallClock::wall_ns(std::uint64_t ticks) const noexcept {
  const ClockSample& from = ticks < last_.ticks ? previous_ : last_;
  auto distance = static_cast<std::int64_t>(ticks - from.ticks);
  return from.wall_ns + static_cast<std::int64_t>(static_cast<double>(distance) * ns_per_tick_);
}

}  // namespace telltale::diag
