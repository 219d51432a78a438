// SPDX-License-Identifier: Apache-2.0
#pragma once
// RecorderClocks: what the clocks said, now and then, in a mapped file of the recorder's directory.
//
// Stamps of records are ticks; a reader turns them into time of day by the nearest of these. One is taken a
// second. The newest 256 are kept, and of the older ones 256 that are 64 s apart and 256 that are 4,096 s apart:
// 12 days in 32 KiB. A slot whose check does not fit its words was being written, and is not used.
//
// **Thread safety:** add() by one thread at a time; read by anybody.

#include <array>
#include <atomic>
#include <cstdint>

#include "record_log.h"

namespace telltale::diag {

struct ClockSlot {
  std::array<std::atomic<std::uint64_t>, 4> words{};  // those of a ClockContent
  std::atomic<std::uint64_t> check{0};
};
static_assert(sizeof(ClockContent) == 4 * sizeof(std::uint64_t));

struct RecorderClocks {
  static constexpr char kMagic[8] = {'T', 't', 'l', 'C', 'l', 'o', 'c', '1'};
  static constexpr std::size_t kLevels = 3, kSlots = 256, kThinning = 64;
  static constexpr std::uint64_t kCheckSeed = 0x9E3779B97F4A7C15;

  char magic[8] = {};
  std::uint64_t run[2] = {};
  std::uint64_t count = 0;  // the writer's own
  std::array<std::array<ClockSlot, kSlots>, kLevels> slots{};

  void add(const ClockContent& clock) noexcept {
    std::uint64_t words[4];
    std::memcpy(words, &clock, sizeof words);
    std::uint64_t every = 1;
    for (std::size_t level = 0; level < kLevels && count % every == 0; ++level, every *= kThinning) {
      ClockSlot& slot = slots[level][count / every % kSlots];
      std::uint64_t check = kCheckSeed;
      slot.check.store(0, std::memory_order_release);
      for (std::size_t i = 0; i < 4; ++i) {
        slot.words[i].store(words[i], std::memory_order_release);
        check = (check ^ words[i]) * 0x100000001B3;
      }
      slot.check.store(check | 1, std::memory_order_release);
    }
    ++count;
  }
};

}  // namespace telltale::diag
