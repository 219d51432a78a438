// SPDX-License-Identifier: Apache-2.0
// See throttle_table.h; tested in throttle_test.cc.
#include "throttle_table.h"

#include <algorithm>

namespace telltale::diag {
namespace {

// Eight bytes a step: a flood's cost is mostly this. Every bit of the last state depends on every bit before.
std::uint64_t mixed(std::uint64_t state, std::uint64_t word) noexcept {
  state = (state ^ word) * 0x9E37'79B9'7F4A'7C15;
  return state ^ state >> 29;
}

std::uint64_t hash_of(std::string_view bytes, std::uint64_t state) noexcept {
  state = mixed(state, bytes.size());
  while (!bytes.empty()) {
    std::uint64_t word = 0;
    const std::size_t n = std::min(bytes.size(), sizeof word);
    std::memcpy(&word, bytes.data(), n);
    state = mixed(state, word);
    bytes.remove_prefix(n);
  }
  return mixed(state, 0);
}

std::uint64_t seed(Level level) noexcept { return static_cast<std::uint64_t>(level) + 1; }

// Never 0, which is a free slot's.
std::uint32_t tag_of(std::uint64_t hash) noexcept { return static_cast<std::uint32_t>(hash >> 32) | 1; }

}  // namespace

void ThrottleTable::Sample::keep(const ThrottledLine& line, std::int64_t now_ns) noexcept {
  since_ns = now_ns;
  level = line.level;
  std::string_view kept = line.arguments;
  argument_count = line.argument_count;
  if (kept.size() > kSampleBytes) {
    kept = kept.substr(0, line.origin_bytes);
    argument_count = 5;
  }
  if (kept.size() > kSampleBytes) {  // a format of its own length: the count is told without it
    kept = {};
    argument_count = 0;
  }
  bytes = static_cast<std::uint16_t>(kept.copy(arguments.data(), kSampleBytes));
  origin_bytes = static_cast<std::uint16_t>(std::min<std::size_t>(line.origin_bytes, bytes));
}

std::atomic<std::uint64_t>* ThrottleTable::take_message(std::uint64_t hash, bool& full) noexcept {
  const std::uint64_t tag = std::uint64_t{tag_of(hash)} << 32;
  for (;;) {
    std::atomic<std::uint64_t>* free = nullptr;
    for (std::size_t probe = 0; probe < kProbes; ++probe) {
      std::atomic<std::uint64_t>& word = messages_[(hash + probe) % kMessages];
      std::uint64_t seen = word.load(std::memory_order_relaxed);
      // Counted by exchange, not by addition: the slot may be freed and another's by then.
      while ((seen & ~kCount) == tag && (seen & kCount) != kCount) {
        if (word.compare_exchange_weak(seen, seen + 1, std::memory_order_relaxed)) return nullptr;
      }
      if (seen == 0 && free == nullptr) free = &word;
    }
    if (free == nullptr) {
      full = true;
      return nullptr;
    }
    std::uint64_t nobody = 0;
    // Acquire: tell() has read the former sample.
    if (free->compare_exchange_strong(nobody, tag, std::memory_order_acquire, std::memory_order_relaxed)) return free;
  }
}

std::size_t ThrottleTable::place_of(std::uint64_t hash, const ThrottledLine& line, std::int64_t now_ns) noexcept {
  const std::uint32_t tag = tag_of(hash);
  for (std::size_t probe = 0; probe < kProbes; ++probe) {
    const std::size_t at = (hash + probe) % (kPlaces - 1);
    std::uint32_t seen = places_[at].hash.load(std::memory_order_relaxed);
    if (seen == 0 && places_[at].hash.compare_exchange_strong(seen, tag, std::memory_order_relaxed)) {
      place_samples_[at].keep(line, now_ns);
      place_ready_[at].store(true, std::memory_order_release);
      return at;
    }
    if (seen == tag) return at;
  }
  constexpr std::size_t kRest = kPlaces - 1;
  std::uint32_t nobody = 0;
  if (places_[kRest].hash.compare_exchange_strong(nobody, 1, std::memory_order_relaxed)) {
    place_samples_[kRest].keep({line.level, 0, 0, {}}, now_ns);
    place_ready_[kRest].store(true, std::memory_order_release);
  }
  return kRest;
}

bool ThrottleTable::place_admits(const ThrottledLine& line, std::int64_t now_ns, std::uint32_t burst,
                                 std::size_t& place) noexcept {
  place = place_of(hash_of(line.arguments.substr(0, line.origin_bytes), seed(line.level)), line, now_ns);
  const std::uint32_t before = places_[place].written.fetch_add(1, std::memory_order_relaxed);
  if (before == 0) places_[place].since_ns.store(now_ns, std::memory_order_relaxed);
  return before < burst;
}

bool ThrottleTable::admit(const ThrottledLine& line, std::int64_t now_ns, std::uint32_t burst) noexcept {
  const std::uint64_t hash = hash_of(line.arguments, seed(line.level));
  bool full = false;
  std::atomic<std::uint64_t>* word = take_message(hash, full);
  if (word == nullptr && !full) return false;
  std::size_t place = 0;
  if (place_admits(line, now_ns, burst, place)) {
    if (word == nullptr) return true;
    const auto at = static_cast<std::size_t>(word - messages_.data());
    message_samples_[at].keep(line, now_ns);
    message_ready_[at].store(true, std::memory_order_release);
    return true;
  }
  // Those who took the message for one that is written are this place's too. Release: partner of the next
  // taker's acquire, though the sample was not touched.
  const std::uint64_t others = word == nullptr ? 0 : word->exchange(0, std::memory_order_release) & kCount;
  places_[place].held_back.fetch_add(others + 1, std::memory_order_relaxed);
  return false;
}

std::uint64_t ThrottleTable::held_back() const noexcept {
  std::uint64_t lines = told_.load(std::memory_order_relaxed);
  for (const auto& word : messages_) lines += word.load(std::memory_order_relaxed) & kCount;
  for (const Place& place : places_) lines += place.held_back.load(std::memory_order_relaxed);
  return lines;
}

}  // namespace telltale::diag
