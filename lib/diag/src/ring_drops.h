// SPDX-License-Identifier: Apache-2.0
#pragma once
// Counts of dropped records by tag, level and reason: a small open-addressed table of fixed size.
//
// Counts only grow. Whoever shows them keeps what it has shown and shows the difference, so a loss is
// shown exactly once however often and by whomever the table is read. When all slots are taken, further
// tags share the last one ("other tags").
//
// **Thread safety:** add() by one thread, add_shared() by any; never both on one object. Readers load a
// slot's count with acquire, its partner the release store behind it, and then see the slot's key.

#include <array>
#include <atomic>
#include <cstdint>

#include <telltale/diag/record.h>

namespace telltale::diag {

enum class DropReason : std::uint8_t {
  kFull,      // no room in the ring
  kTooLarge,  // would not fit into an empty ring
  kNested,    // written by a formatter while its thread was writing another record
  kNoRing,    // the thread got no ring (kRingsMax)
};

// What a drop is counted under, packed into a word that is never 0.
struct DropKey {
  std::uint32_t tag = 0;  // the registry's number; 0 = none known
  Level level = Level::kDebug;
  DropReason reason = DropReason::kFull;

  constexpr std::uint64_t packed() const noexcept {
    return std::uint64_t{1} << 63 | std::uint64_t{tag} << 16 | std::uint64_t(reason) << 8 | std::uint64_t(level);
  }
  static constexpr DropKey unpacked(std::uint64_t word) noexcept {
    return {static_cast<std::uint32_t>(word >> 16), static_cast<Level>(word & 0xFF),
            static_cast<DropReason>(word >> 8 & 0xFF)};
  }
};
inline constexpr std::uint32_t kOtherTags = 0xFFFFFFFF;

class DropCounts {
 public:
  static constexpr std::size_t kSlots = 64;

  void add(DropKey key) noexcept {
    std::size_t i = slot(key.packed(), [this](std::size_t at, std::uint64_t word) {
      keys_[at].store(word, std::memory_order_relaxed);
      return true;
    });
    counts_[i].store(counts_[i].load(std::memory_order_relaxed) + 1, std::memory_order_release);
    total_.store(total_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  void add_shared(DropKey key) noexcept {
    std::size_t i = slot(key.packed(), [this](std::size_t at, std::uint64_t word) {
      std::uint64_t empty = 0;
      return keys_[at].compare_exchange_strong(empty, word, std::memory_order_relaxed) || empty == word;
    });
    counts_[i].fetch_add(1, std::memory_order_release);
    total_.fetch_add(1, std::memory_order_release);
  }

  std::uint64_t total() const noexcept { return total_.load(std::memory_order_acquire); }
  std::uint64_t count(std::size_t i) const noexcept { return counts_[i].load(std::memory_order_acquire); }
  // REQUIRES: count(i) was seen to be positive.
  DropKey key(std::size_t i) const noexcept {
    return i == kSlots - 1 ? DropKey{kOtherTags, Level::kDebug, DropReason::kFull}
                           : DropKey::unpacked(keys_[i].load(std::memory_order_relaxed));
  }

 private:
  template <class Claim>
  std::size_t slot(std::uint64_t word, Claim claim) noexcept {
    std::size_t at = static_cast<std::size_t>((word * 0x9E3779B97F4A7C15) >> 32) % (kSlots - 1);
    for (std::size_t tried = 0; tried < kSlots - 1; ++tried, at = (at + 1) % (kSlots - 1)) {
      std::uint64_t there = keys_[at].load(std::memory_order_relaxed);
      if (there == word || (there == 0 && claim(at, word))) return at;
    }
    return kSlots - 1;
  }

  std::array<std::atomic<std::uint64_t>, kSlots> keys_{};
  std::array<std::atomic<std::uint64_t>, kSlots> counts_{};
  std::atomic<std::uint64_t> total_{0};
};

}  // namespace telltale::diag
