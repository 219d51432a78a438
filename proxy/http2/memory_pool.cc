// SPDX-License-Identifier: Apache-2.0
#include "http2/memory_pool.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, bytes) ((void)(address), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(address, bytes) ((void)(address), (void)(bytes))
#endif

namespace telltale::http2 {

// What stands before the memory that is handed out, which begins where it ends.
struct alignas(std::max_align_t) MemoryPool::Block {
  std::size_t bytes;  // of what follows
  Block* next;        // in a list

  void* memory() noexcept { return this + 1; }
  static Block* of(void* memory) noexcept { return static_cast<Block*>(memory) - 1; }
  static Block* make(std::size_t bytes) noexcept {
    auto* const block = static_cast<Block*>(std::malloc(sizeof(Block) + bytes));
    if (block != nullptr) block->bytes = bytes;
    return block;
  }
};

MemoryPool::MemoryPool() noexcept
    : functions_{this, [](std::size_t bytes, void* pool) { return static_cast<MemoryPool*>(pool)->allocate(bytes); },
                 [](void* block, void* pool) { static_cast<MemoryPool*>(pool)->release(block); },
                 [](std::size_t count, std::size_t bytes, void* pool) -> void* {
                   if (bytes != 0 && count > SIZE_MAX / bytes) return nullptr;
                   void* const block = static_cast<MemoryPool*>(pool)->allocate(count * bytes);
                   if (block != nullptr) std::memset(block, 0, count * bytes);
                   return block;
                 },
                 [](void* block, std::size_t bytes, void* pool) {
                   return static_cast<MemoryPool*>(pool)->resize(block, bytes);
                 }} {}

MemoryPool::~MemoryPool() {
  for (Block*& first : free_) {
    while (first != nullptr) {
      Block* const block = first;
      first = block->next;
      std::free(block);
    }
  }
}

void* MemoryPool::allocate(std::size_t bytes) noexcept {
  const std::size_t rounded = std::max(kStep, (bytes + kStep - 1) / kStep * kStep);
  if (bytes > kLargest) {
    Block* const block = Block::make(bytes);
    return block != nullptr ? block->memory() : nullptr;
  }
  Block*& first = free_[rounded / kStep - 1];
  Block* block = first;
  if (block != nullptr) {
    first = block->next;
    kept_bytes_ -= rounded;
    ASAN_UNPOISON_MEMORY_REGION(block->memory(), rounded);
    return block->memory();
  }
  block = Block::make(rounded);
  return block != nullptr ? block->memory() : nullptr;
}

void MemoryPool::release(void* memory) noexcept {
  if (memory == nullptr) return;
  Block* const block = Block::of(memory);
  if (block->bytes > kLargest || kept_bytes_ + block->bytes > kKeptBytesMax) {
    std::free(block);
    return;
  }
  Block*& first = free_[block->bytes / kStep - 1];
  block->next = first;
  first = block;
  kept_bytes_ += block->bytes;
  ASAN_POISON_MEMORY_REGION(memory, block->bytes);
}

void* MemoryPool::resize(void* memory, std::size_t bytes) noexcept {
  if (memory == nullptr) return allocate(bytes);
  const std::size_t old_bytes = Block::of(memory)->bytes;
  if (bytes <= old_bytes && old_bytes <= kLargest) return memory;
  void* const larger = allocate(bytes);
  if (larger == nullptr) return nullptr;
  std::memcpy(larger, memory, std::min(old_bytes, bytes));
  release(memory);
  return larger;
}

}  // namespace telltale::http2
