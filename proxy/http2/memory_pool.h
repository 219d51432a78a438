// SPDX-License-Identifier: Apache-2.0
#pragma once
// Memory for nghttp2, which asks for some and gives it back half a dozen times a request: blocks of a few sizes are
// kept for reuse instead of going through malloc and free each time. One per worker, shared by its sessions.
//
//   size             | from                              | given back to
//   -----------------|-----------------------------------|------------------------------------------
//   up to kLargest   | the list of its size, else malloc | its list, up to kKeptBytesMax in all lists
//   more             | malloc                            | free
//
// **Thread safety:** loop-bound; also made and destroyed where no worker runs.

#include <array>
#include <cstddef>

#include <nghttp2/nghttp2.h>

namespace telltale::http2 {

class MemoryPool {
 public:
  static constexpr std::size_t kStep = 64;  // sizes are rounded up to a multiple of this
  static constexpr std::size_t kLargest = 1024;
  static constexpr std::size_t kKeptBytesMax = 1 << 20;

  MemoryPool() noexcept;
  // REQUIRES: all blocks have been given back.
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  // For nghttp2_session_server_new3(); lives as long as the pool.
  nghttp2_mem* functions() noexcept { return &functions_; }

  // As malloc, free, realloc. Null where there is no memory.
  void* allocate(std::size_t bytes) noexcept;
  void release(void* block) noexcept;
  void* resize(void* block, std::size_t bytes) noexcept;

  std::size_t kept_bytes() const noexcept { return kept_bytes_; }

 private:
  struct Block;
  static constexpr std::size_t kClasses = kLargest / kStep;

  nghttp2_mem functions_;
  std::array<Block*, kClasses> free_{};
  std::size_t kept_bytes_ = 0;
};

}  // namespace telltale::http2
