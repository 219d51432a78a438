// SPDX-License-Identifier: Apache-2.0
#pragma once
// Ticks: the clock a record is stamped with, and how the backend turns a stamp into time of day.
//
// A stamp is the processor's time-stamp counter where CPUID calls it invariant and the kernel itself
// keeps time by it (then all cores agree), else CLOCK_MONOTONIC in nanoseconds. Reading the counter
// takes half the time of the kernel's clock. Records are ordered by ticks alone; time of day is only
// printed, so a stepped wall clock never changes their order.
//
// **Thread safety:** ticks_now() thread-safe once choose_ticks() has returned somewhere that
// happens-before (a thread's first record takes the ring table's lock behind it); WallClock belongs to
// the backend.

#include <cstdint>
#include <ctime>
#include <optional>

namespace telltale::diag {

extern bool ticks_are_tsc;  // set by choose_ticks(), constant from then on

// Chooses the source and takes the first sample; later calls do nothing.
void choose_ticks() noexcept;

inline std::uint64_t ticks_now() noexcept {
#if defined(__x86_64__)
  if (ticks_are_tsc) [[likely]] return __builtin_ia32_rdtsc();
#endif
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(t.tv_nsec);
}

// The three clocks at one moment.
struct ClockSample {
  std::uint64_t ticks;
  std::int64_t monotonic_ns;
  std::int64_t wall_ns;  // CLOCK_REALTIME, since 1970
};
ClockSample sample_clocks() noexcept;
const ClockSample& first_sample() noexcept;  // the one of choose_ticks()

// Ticks to time of day, from samples fed now and then (the backend: every 100 ms and on wake-up).
class WallClock {
 public:
  explicit WallClock(const ClockSample& first) noexcept;

  // Returns how far the wall clock was stepped since the last sample, if it was (by more than 1 ms).
  // Stamps older than this sample keep the time of day of before the step.
  std::optional<std::int64_t> add(const ClockSample& sample) noexcept;

  std::int64_t wall_ns(std::uint64_t ticks) const noexcept;
  // 1 where ticks are nanoseconds; a guess of 3 GHz before 1 ms has been seen of a counter.
  double ns_per_tick() const noexcept { return ns_per_tick_; }

 private:
  ClockSample old_anchor_, new_anchor_;  // the rate is taken between old_anchor_ and the last sample
  ClockSample previous_, last_;
  double ns_per_tick_;
};

}  // namespace telltale::diag
