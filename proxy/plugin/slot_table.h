// SPDX-License-Identifier: Apache-2.0
#pragma once
// A table of slots that are used again and never freed, so that a handle which is no more can be told from one
// that is: it names a slot and the slot's generation, and looking at a slot is always safe.
//
// **Thread safety:** thread-safe; a slot's content is guarded by the slot itself. Immortal when it is a global:
// plugins' static destructors come late.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>

namespace telltale::plugin {

inline constexpr std::uint32_t kSlotsMax = 1 << 20;

// T has the members `std::uint32_t index` and `T* next_free`, which the table owns.
template <class T>
class SlotTable {
 public:
  // Null: kSlotsMax are taken, or no memory. Cost: a lock; allocates when all slots are taken.
  T* take() noexcept {
    std::lock_guard lock(mutex_);
    if (free_ == nullptr && !grow()) return nullptr;
    T* slot = free_;
    free_ = slot->next_free;
    return slot;
  }
  void give_back(T& slot) noexcept {
    std::lock_guard lock(mutex_);
    slot.next_free = free_;
    free_ = &slot;
  }
  // Null: there never was one of that index.
  T* at(std::uint32_t index) const noexcept {
    if (index >= kSlotsMax) return nullptr;
    T* chunk = chunks_[index / kChunk].load(std::memory_order_acquire);  // pairs with grow()'s release
    return chunk == nullptr ? nullptr : &chunk[index % kChunk];
  }

 private:
  static constexpr std::uint32_t kChunk = 256;

  bool grow() noexcept {
    std::uint32_t first = chunk_count_ * kChunk;
    if (first == kSlotsMax) return false;
    T* chunk = new (std::nothrow) T[kChunk];
    if (chunk == nullptr) return false;
    for (std::uint32_t i = kChunk; i-- > 0;) {
      chunk[i].index = first + i;
      chunk[i].next_free = free_;
      free_ = &chunk[i];
    }
    chunks_[chunk_count_++].store(chunk, std::memory_order_release);
    return true;
  }

  std::mutex mutex_;
  T* free_ = nullptr;               // guarded by mutex_
  std::uint32_t chunk_count_ = 0;   // guarded by mutex_
  std::array<std::atomic<T*>, kSlotsMax / kChunk> chunks_{};
};

}  // namespace telltale::plugin
