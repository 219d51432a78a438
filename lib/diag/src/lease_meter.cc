// SPDX-License-Identifier: Apache-2.0
#include "lease_meter.h"

#include <algorithm>
#include <bit>

#include "ring_table.h"
#include "route.h"

namespace telltale::diag {

namespace {

// What two sources that ask for one line make of it: all outputs that are named, and where the level goes unless
// neither asks for that.
struct Joined {
  bool by_level = false;
  std::uint32_t to = 0;

  void add(std::uint32_t route) noexcept {
    by_level = by_level || (route & kElsewhere) == 0;
    to |= route & kToMask;
  }
  std::uint32_t route() const noexcept { return to | (by_level ? 0 : kElsewhere); }
};

}  // namespace

Charge LeaseMeters::charge(std::uint64_t sources) noexcept {
  if (sources == 1) return {true, 0};
  bool good = (sources & 1) != 0;
  Joined joined{.by_level = good};
  for (sources &= ~std::uint64_t{1}; sources != 0; sources &= sources - 1) {
    const auto number = static_cast<unsigned>(std::countr_zero(sources));
    Meter& meter = meters_[number];
    std::uint64_t max = meter.max.load(std::memory_order_relaxed);
    if (max == 0) {
      good = true;
      joined.add(meter.route.load(std::memory_order_relaxed));
      if (Ring* ring = own_ring()) {
        ring->add_line(number);
      } else {
        meter.lines.fetch_add(1, std::memory_order_relaxed);
      }
      continue;
    }
    std::uint64_t before = meter.lines.fetch_add(1, std::memory_order_relaxed);
    if (before < max) {
      good = true;
      joined.add(meter.route.load(std::memory_order_relaxed));
    }
    if (before + 1 == max) {
      auto* call = notify.load(std::memory_order_acquire);
      if (call != nullptr) call(notify_with.load(std::memory_order_acquire));
    }
  }
  return {good, good ? joined.route() : 0};
}

std::uint32_t LeaseMeters::route(std::uint64_t sources) const noexcept {
  Joined joined{.by_level = (sources & 1) != 0};
  bool good = joined.by_level;
  for (sources &= ~std::uint64_t{1}; sources != 0; sources &= sources - 1) {
    const auto number = static_cast<unsigned>(std::countr_zero(sources));
    if (spent(number)) continue;
    good = true;
    joined.add(meters_[number].route.load(std::memory_order_relaxed));
  }
  return good ? joined.route() : 0;
}

bool LeaseMeters::can_pay(std::uint64_t sources) const noexcept {
  if ((sources & 1) != 0) return true;
  for (; sources != 0; sources &= sources - 1) {
    if (!spent(static_cast<unsigned>(std::countr_zero(sources)))) return true;
  }
  return false;
}

void LeaseMeters::open(unsigned number, std::uint64_t max_lines, std::uint32_t route) noexcept {
  meters_[number].route.store(route, std::memory_order_relaxed);
  meters_[number].max.store(max_lines, std::memory_order_relaxed);
  meters_[number].lines.store(0, std::memory_order_relaxed);
  meters_[number].before.store(ring_table().lines(number), std::memory_order_relaxed);
}

std::uint64_t LeaseMeters::lines(unsigned number) const noexcept {
  std::uint64_t lines = meters_[number].lines.load(std::memory_order_relaxed);
  std::uint64_t max = meters_[number].max.load(std::memory_order_relaxed);
  if (max != 0) return std::min(lines, max);
  // Rings may have gone since, with a fork.
  const std::uint64_t all = ring_table().lines(number), before = meters_[number].before.load(std::memory_order_relaxed);
  return lines + (all > before ? all - before : 0);
}

bool LeaseMeters::spent(unsigned number) const noexcept {
  std::uint64_t max = meters_[number].max.load(std::memory_order_relaxed);
  return max != 0 && meters_[number].lines.load(std::memory_order_relaxed) >= max;
}

}  // namespace telltale::diag
