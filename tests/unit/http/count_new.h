// SPDX-License-Identifier: Apache-2.0
#pragma once

// Replaces operator new by one that counts, for tests that show that something does not allocate. Include it in
// exactly one source of a program: it defines the replacements.
#include <cstddef>
#include <cstdlib>
#include <new>

inline std::size_t& allocations() {
  static std::size_t count = 0;
  return count;
}

void* operator new(std::size_t size) {
  ++allocations();
  if (void* const memory = std::malloc(size != 0 ? size : 1)) return memory;
  throw std::bad_alloc();
}
void* operator new[](std::size_t size) { return operator new(size); }
// These too: AddressSanitizer brings its own, and then new and delete would not match.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++allocations();
  return std::malloc(size != 0 ? size : 1);
}
void* operator new[](std::size_t size, const std::nothrow_t& tag) noexcept { return operator new(size, tag); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
