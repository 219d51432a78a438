// SPDX-License-Identifier: Apache-2.0
#include "net/frame_list.h"

#include <cassert>
#include <cstdlib>
#include <exception>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, bytes) ((void)(address), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(address, bytes) ((void)(address), (void)(bytes))
#endif

namespace telltale::net {
namespace {

void* malloc_or_terminate(std::size_t bytes) noexcept {
  void* block = std::malloc(bytes);
  if (block == nullptr) {
    std::terminate();
  }
  return block;
}

}  // namespace

thread_local constinit FrameList::State FrameList::state_{};

void* FrameList::allocate_rarely(std::size_t bytes) noexcept {
  if (bytes > kLargestBytes || bytes == 0) {
    return malloc_or_terminate(bytes);
  }
  const std::size_t size_class = class_of(bytes);
  Block* const block = state_.free[size_class];
  if (block == nullptr) {
    return malloc_or_terminate(bytes_of(size_class));
  }
  ASAN_UNPOISON_MEMORY_REGION(block, bytes_of(size_class));
  state_.free[size_class] = block->next;
  state_.retained_bytes -= bytes_of(size_class);
  return block;
}

void FrameList::release_rarely(void* memory, std::size_t bytes) noexcept {
  if (!state_.open || bytes > kLargestBytes || bytes == 0 ||
      state_.retained_bytes + bytes_of(class_of(bytes)) > kRetainedBytesMax) {
    std::free(memory);
    return;
  }
  const std::size_t size_class = class_of(bytes);
  auto* const block = static_cast<Block*>(memory);
  block->next = state_.free[size_class];
  state_.free[size_class] = block;
  state_.retained_bytes += bytes_of(size_class);
  ASAN_POISON_MEMORY_REGION(block, bytes_of(size_class));
}

FrameList::Open::Open() noexcept {
  assert(!state_.open);
  state_.open = true;
}

FrameList::Open::~Open() {
  for (std::size_t size_class = 0; size_class < state_.free.size(); ++size_class) {
    Block*& head = state_.free[size_class];
    while (head != nullptr) {
      Block* const block = head;
      ASAN_UNPOISON_MEMORY_REGION(block, bytes_of(size_class));
      head = block->next;
      std::free(block);
    }
  }
  state_.retained_bytes = 0;
  state_.open = false;
}

std::size_t FrameList::retained_bytes() noexcept {
  return state_.retained_bytes;
}

}  // namespace telltale::net
