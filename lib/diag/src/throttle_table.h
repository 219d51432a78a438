// SPDX-License-Identifier: Apache-2.0
#pragma once
// ThrottleTable: which lines are written, and how many of which were held back. The arithmetic of throttle.h,
// with the time as a number.
//
// A message has a slot from its first line until an interval has passed without it. A slot is one word: 32 bits
// of the message's hash and 32 of lines held back, so that counting a line and freeing the slot cannot miss each
// other. Who makes the slot writes the line, and leaves a copy of its arguments there for the line that will tell
// of the others. A place has a slot for good.
//
//   word of a slot      admit(), same hash     admit(), another hash     tell(), its interval over
//   0 (free)            taken, line written    taken, line written       -
//   hash, n held back   n + 1                  looks on, 8 slots         n > 0: told, n = 0; n = 0: freed
//
// Two messages whose hashes agree in where they begin and in 32 bits are taken for one: one pair in 2^41.
//
// **Thread safety:** admit() by any thread; tell() by one at a time.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <telltale/diag/record.h>

namespace telltale::diag {

// A line as a record has it, without a header.
struct ThrottledLine {
  Level level = Level::kNote;
  std::uint8_t argument_count = 0;  // the first five are tag, file, function, format and line
  std::size_t origin_bytes = 0;     // of these five
  std::string_view arguments;       // all of them; only the first five, where they take more than a sample
};

struct HeldBack {
  ThrottledLine like;       // points into the table
  std::uint64_t lines = 0;
  bool of_place = false;    // lines of this place that differ; else lines like this one
  std::int64_t for_ns = 0;  // the time in which they came
};

class ThrottleTable {
 public:
  static constexpr std::size_t kMessages = 512, kPlaces = 256, kProbes = 8;
  static constexpr std::size_t kSampleBytes = 480;

  // Shall this line be written?
  bool admit(const ThrottledLine& line, std::int64_t now_ns, std::uint32_t burst) noexcept;

  // Calls tell(const HeldBack&) for what was held back in an interval that is over, or `all`.
  template <class Tell>
  void tell(std::int64_t now_ns, std::int64_t interval_ns, bool all, Tell tell) noexcept;

  // Held back so far, told or not.
  std::uint64_t held_back() const noexcept;

 private:
  struct Sample {
    std::int64_t since_ns = 0;
    Level level{};  // all zero, so that the table takes no room in the library's file
    std::uint8_t argument_count = 0;
    std::uint16_t origin_bytes = 0, bytes = 0;
    std::array<char, kSampleBytes> arguments{};

    void keep(const ThrottledLine& line, std::int64_t now_ns) noexcept;
    ThrottledLine line() const noexcept {
      return {level, argument_count, origin_bytes, {arguments.data(), bytes}};
    }
  };
  // Release by whoever fills the sample, acquire by tell().
  using Ready = std::atomic<bool>;
  struct Place {
    std::atomic<std::uint32_t> hash{0};
    std::atomic<std::uint32_t> written{0};    // or wanted, in this interval
    std::atomic<std::uint64_t> held_back{0};
    std::atomic<std::int64_t> since_ns{0};    // of the first of them
  };
  static constexpr std::uint64_t kCount = 0xFFFF'FFFF;

  // Null: that was another line of a message that has been written. Else the word the caller must fill or free;
  // `full`: none is free.
  std::atomic<std::uint64_t>* take_message(std::uint64_t hash, bool& full) noexcept;
  std::size_t place_of(std::uint64_t hash, const ThrottledLine& line, std::int64_t now_ns) noexcept;
  bool place_admits(const ThrottledLine& line, std::int64_t now_ns, std::uint32_t burst, std::size_t& place) noexcept;

  std::array<std::atomic<std::uint64_t>, kMessages> messages_{};
  std::array<Ready, kMessages> message_ready_{};
  std::array<Place, kPlaces> places_{};  // the last one: all that found none
  std::array<Ready, kPlaces> place_ready_{};
  std::atomic<std::uint64_t> told_{0};
  std::array<Sample, kMessages> message_samples_{};
  std::array<Sample, kPlaces> place_samples_{};
};

template <class Tell>
void ThrottleTable::tell(std::int64_t now_ns, std::int64_t interval_ns, bool all, Tell tell) noexcept {
  for (std::size_t i = 0; i < kMessages; ++i) {
    std::atomic<std::uint64_t>& word = messages_[i];
    if (word.load(std::memory_order_relaxed) == 0 || !message_ready_[i].load(std::memory_order_acquire)) continue;
    Sample& sample = message_samples_[i];
    const std::int64_t for_ns = now_ns - sample.since_ns;
    if (!all && for_ns < interval_ns) continue;
    const std::uint64_t seen = word.load(std::memory_order_relaxed), lines = seen & kCount;
    if (lines != 0) {
      word.fetch_sub(lines, std::memory_order_relaxed);
      told_.fetch_add(lines, std::memory_order_relaxed);
      tell(HeldBack{sample.line(), lines, false, for_ns});
      sample.since_ns = now_ns;
      continue;
    }
    message_ready_[i].store(false, std::memory_order_relaxed);
    std::uint64_t unchanged = seen;
    // Release: who takes the slot overwrites the sample after we have read it.
    if (!word.compare_exchange_strong(unchanged, 0, std::memory_order_release, std::memory_order_relaxed)) {
      message_ready_[i].store(true, std::memory_order_relaxed);  // one more came; the next time
    }
  }
  for (std::size_t i = 0; i < kPlaces; ++i) {
    Place& place = places_[i];
    // Either: who found the place full counts its line a moment after it has asked.
    if ((place.written.load(std::memory_order_relaxed) == 0 && place.held_back.load(std::memory_order_relaxed) == 0) ||
        !place_ready_[i].load(std::memory_order_acquire)) {
      continue;
    }
    const std::int64_t for_ns = now_ns - place.since_ns.load(std::memory_order_relaxed);
    if (!all && for_ns < interval_ns) continue;
    place.written.store(0, std::memory_order_relaxed);
    const std::uint64_t lines = place.held_back.exchange(0, std::memory_order_relaxed);
    if (lines == 0) continue;
    told_.fetch_add(lines, std::memory_order_relaxed);
    tell(HeldBack{place_samples_[i].line(), lines, true, for_ns});
  }
}

}  // namespace telltale::diag
