// SPDX-License-Identifier: Apache-2.0
#include "allocations.h"

#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

constinit thread_local std::uint64_t count = 0;

void* counted(std::size_t size, std::size_t alignment) {
  ++count;
  std::size_t rounded = (size + alignment - 1) / alignment * alignment;
  void* at = alignment > alignof(std::max_align_t) ? std::aligned_alloc(alignment, rounded) : std::malloc(size);
  if (at == nullptr) throw std::bad_alloc();
  return at;
}

}  // namespace

// The other forms end in these.
void* operator new(std::size_t size) { return counted(size, 1); }
void* operator new(std::size_t size, std::align_val_t alignment) { return counted(size, static_cast<std::size_t>(alignment)); }
void operator delete(void* at) noexcept { std::free(at); }
void operator delete(void* at, std::size_t) noexcept { std::free(at); }
void operator delete(void* at, std::align_val_t) noexcept { std::free(at); }
void operator delete(void* at, std::size_t, std::align_val_t) noexcept { std::free(at); }

namespace bench {
std::uint64_t allocations_of_this_thread() noexcept { return count; }
}  // namespace bench
