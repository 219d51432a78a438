// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/diag/allocation_counter.h"

#include <cstdio>
#include <cstdlib>
#include <new>

#include "lib/diag/src/registry.h"

namespace {

constinit thread_local std::uint64_t count = 0;

void* counted_or_null(std::size_t size, std::size_t alignment) noexcept {
  ++count;
  if (telltale::diag::registry_lock_held()) {
    std::fputs("operator new was called under the registry's lock\n", stderr);
    std::abort();
  }
  std::size_t rounded = (size + alignment - 1) / alignment * alignment;
  return alignment > alignof(std::max_align_t) ? std::aligned_alloc(alignment, rounded) : std::malloc(size);
}
void* counted(std::size_t size, std::size_t alignment) {
  void* at = counted_or_null(size, alignment);
  if (at == nullptr) throw std::bad_alloc();
  return at;
}
void released(void* at) noexcept {
  if (at != nullptr && telltale::diag::registry_lock_held()) {
    std::fputs("operator delete was called under the registry's lock\n", stderr);
    std::abort();
  }
  std::free(at);
}

}  // namespace

// All forms: AddressSanitizer brings the ones we leave out, and then finds that new and delete do not match.
void* operator new(std::size_t size) { return counted(size, 1); }
void* operator new[](std::size_t size) { return counted(size, 1); }
void* operator new(std::size_t size, std::align_val_t alignment) { return counted(size, static_cast<std::size_t>(alignment)); }
void* operator new[](std::size_t size, std::align_val_t alignment) { return counted(size, static_cast<std::size_t>(alignment)); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return counted_or_null(size, 1); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return counted_or_null(size, 1); }
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return counted_or_null(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return counted_or_null(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* at) noexcept { released(at); }
void operator delete[](void* at) noexcept { released(at); }
void operator delete(void* at, std::size_t) noexcept { released(at); }
void operator delete[](void* at, std::size_t) noexcept { released(at); }
void operator delete(void* at, std::align_val_t) noexcept { released(at); }
void operator delete[](void* at, std::align_val_t) noexcept { released(at); }
void operator delete(void* at, std::size_t, std::align_val_t) noexcept { released(at); }
void operator delete[](void* at, std::size_t, std::align_val_t) noexcept { released(at); }
void operator delete(void* at, const std::nothrow_t&) noexcept { released(at); }
void operator delete[](void* at, const std::nothrow_t&) noexcept { released(at); }
void operator delete(void* at, std::align_val_t, const std::nothrow_t&) noexcept { released(at); }
void operator delete[](void* at, std::align_val_t, const std::nothrow_t&) noexcept { released(at); }

namespace telltale::diag {
std::uint64_t allocations_of_this_thread() noexcept { return count; }
}  // namespace telltale::diag
