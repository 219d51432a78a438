// SPDX-License-Identifier: Apache-2.0
#include "lease_meter.h"

#include <algorithm>
#include <bit>

namespace telltale::diag {

bool LeaseMeters::charge(std::uint64_t sources) noexcept {
  bool good = (sources & 1) != 0;
  for (sources &= ~std::uint64_t{1}; sources != 0; sources &= sources - 1) {
    Meter& meter = meters_[static_cast<unsigned>(std::countr_zero(sources))];
    std::uint64_t before = meter.lines.fetch_add(1, std::memory_order_relaxed);
    std::uint64_t max = meter.max.load(std::memory_order_relaxed);
    if (max == 0 || before < max) good = true;
    if (max != 0 && before + 1 == max) {
      auto* call = notify.load(std::memory_order_acquire);
      if (call != nullptr) call(notify_with.load(std::memory_order_acquire));
    }
  }
  return good;
}

bool LeaseMeters::can_pay(std::uint64_t sources) const noexcept {
  if ((sources & 1) != 0) return true;
  for (; sources != 0; sources &= sources - 1) {
    if (!spent(static_cast<unsigned>(std::countr_zero(sources)))) return true;
  }
  return false;
}

void LeaseMeters::open(unsigned number, std::uint64_t max_lines) noexcept {
  meters_[number].max.store(max_lines, std::memory_order_relaxed);
  meters_[number].lines.store(0, std::memory_order_relaxed);
}

std::uint64_t LeaseMeters::lines(unsigned number) const noexcept {
  std::uint64_t lines = meters_[number].lines.load(std::memory_order_relaxed);
  std::uint64_t max = meters_[number].max.load(std::memory_order_relaxed);
  return max == 0 ? lines : std::min(lines, max);
}

bool LeaseMeters::spent(unsigned number) const noexcept {
  std::uint64_t max = meters_[number].max.load(std::memory_order_relaxed);
  return max != 0 && meters_[number].lines.load(std::memory_order_relaxed) >= max;
}

}  // namespace telltale::diag
