// SPDX-License-Identifier: Apache-2.0
#pragma once
// A clock that stands still until a test moves it; both times move together.
//
// **Thread safety:** thread-safe.

#include <atomic>

#include "net/clock.h"

namespace telltale::net {

class ManualClock final : public Clock {
 public:
  // Starts at a fixed steady time and at the given wall time (default 2026-11-30T10:00:00Z).
  explicit ManualClock(WallTime wall = WallTime{std::chrono::seconds{1796032800}}) noexcept : wall_start_(wall) {}

  [[nodiscard]] SteadyTime steady_now() const noexcept override {
    return SteadyTime{std::chrono::hours{1000}} + passed();
  }
  [[nodiscard]] WallTime system_now() const noexcept override {
    return wall_start_ + std::chrono::duration_cast<WallTime::duration>(passed());
  }

  void advance(std::chrono::nanoseconds by) noexcept { passed_ns_.fetch_add(by.count(), std::memory_order_release); }

 private:
  [[nodiscard]] std::chrono::nanoseconds passed() const noexcept {
    return std::chrono::nanoseconds{passed_ns_.load(std::memory_order_acquire)};
  }

  const WallTime wall_start_;
  // Released by advance(), acquired by readers: what a test wrote before it moved time is seen after it.
  std::atomic<std::chrono::nanoseconds::rep> passed_ns_{0};
};

}  // namespace telltale::net
