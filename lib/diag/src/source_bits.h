// SPDX-License-Identifier: Apache-2.0
#pragma once
// A set of sources, one bit each, twice: for the epoch in force and for the next (registry_verdict.h).
//
// **Thread safety:** written under the registry's lock, read without.

#include <array>
#include <atomic>
#include <cstdint>

namespace telltale::diag {

inline constexpr unsigned kSourcesMax = 64;  // the base, 62 leases and the recorder (registry_verdict.h)

struct SourceBits {
  std::array<std::atomic<std::uint64_t>, 2> of_epoch{};

  std::uint64_t at(std::uint64_t epoch) const noexcept { return of_epoch[epoch & 1].load(std::memory_order_acquire); }
};

}  // namespace telltale::diag
