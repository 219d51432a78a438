// SPDX-License-Identifier: Apache-2.0
#pragma once
// An append-only table: items are found by number or by content without a lock, and never go away.
//
// Items are numbered from 1 in the order of their arrival. Numbers are looked up in segments that double
// in size and never move, content in a fixed array of hash chains. Whoever appends allocates before it
// takes the registry's lock: reserve() makes room, append() only writes memory.
//
//   reserve()                          no lock; allocates
//   append(), cancel_reservation()     under the registry's lock; append REQUIRES a reservation
//   by_number(), at(), find(), size()  no lock, wait-free
//
// **Thread safety:** thread-safe, as the table above says.

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace telltale::diag {

// T has the members `std::uint32_t number`, `std::uint64_t hash` and `T* next_in_chain`, which the
// table owns once the item is in.
template <class T, std::uint32_t kItemsMax, std::size_t kChains>
class RegistryTable {
 public:
  // Room for one more item. False: kItemsMax are in or on their way in.
  bool reserve() {
    std::uint32_t total = reserved_.fetch_add(1, std::memory_order_relaxed) + 1;
    if (total > kItemsMax) {
      cancel_reservation();
      return false;
    }
    Place place = place_of(total);
    if (segments_[place.segment].load(std::memory_order_acquire) == nullptr) {
      auto* fresh = new std::atomic<T*>[kFirst << place.segment]();
      std::atomic<T*>* none = nullptr;
      if (!segments_[place.segment].compare_exchange_strong(none, fresh, std::memory_order_acq_rel)) delete[] fresh;
    }
    return true;
  }
  void cancel_reservation() noexcept { reserved_.fetch_sub(1, std::memory_order_relaxed); }

  void append(T* item) noexcept {
    std::uint32_t number = size_.load(std::memory_order_relaxed) + 1;
    item->number = number;
    std::atomic<T*>& chain = chains_[item->hash % kChains];
    item->next_in_chain = chain.load(std::memory_order_relaxed);
    Place place = place_of(number);
    // The three releases pair with the acquires of by_number(), find() and size().
    segments_[place.segment].load(std::memory_order_acquire)[place.offset].store(item, std::memory_order_release);
    chain.store(item, std::memory_order_release);
    size_.store(number, std::memory_order_release);
  }

  std::uint32_t size() const noexcept { return size_.load(std::memory_order_acquire); }

  // Null: no such number.
  T* by_number(std::uint32_t number) const noexcept {
    if (number == 0 || number > kItemsMax) return nullptr;
    Place place = place_of(number);
    std::atomic<T*>* segment = segments_[place.segment].load(std::memory_order_acquire);
    return segment == nullptr ? nullptr : segment[place.offset].load(std::memory_order_acquire);
  }

  // REQUIRES: 1 <= number <= size().
  T& at(std::uint32_t number) const noexcept {
    Place place = place_of(number);
    return *segments_[place.segment].load(std::memory_order_acquire)[place.offset].load(std::memory_order_acquire);
  }

  template <class Same>
  T* find(std::uint64_t hash, Same same) const noexcept {
    for (T* at = chains_[hash % kChains].load(std::memory_order_acquire); at != nullptr; at = at->next_in_chain) {
      if (at->hash == hash && same(*at)) return at;
    }
    return nullptr;
  }

 private:
  static constexpr std::uint32_t kFirst = 256;  // items of the first segment; the n-th has kFirst << n
  struct Place {
    std::size_t segment;
    std::size_t offset;
  };
  static constexpr Place place_of(std::uint32_t number) noexcept {
    std::uint32_t at = number - 1 + kFirst;
    std::size_t segment = static_cast<std::size_t>(std::bit_width(at / kFirst)) - 1;
    return {segment, at - (kFirst << segment)};
  }

  std::atomic<std::uint32_t> size_{0};
  std::atomic<std::uint32_t> reserved_{0};  // items in and on their way in
  std::array<std::atomic<std::atomic<T*>*>, place_of(kItemsMax).segment + 1> segments_{};
  std::array<std::atomic<T*>, kChains> chains_{};
};

// FNV-1a; `seed` is the hash of what came before.
inline constexpr std::uint64_t kHashSeed = 14695981039346656037ULL;
constexpr std::uint64_t hash_bytes(const char* at, std::size_t size, std::uint64_t seed = kHashSeed) noexcept {
  for (std::size_t i = 0; i < size; ++i) seed = (seed ^ static_cast<unsigned char>(at[i])) * 1099511628211ULL;
  return seed;
}

}  // namespace telltale::diag
