// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where coroutine frames come from: a free list per thread, one stack of blocks for each size class, so that a
// transaction's frames cost a pop and a push instead of malloc and free. Used by Task and Detached only.
// The list holds blocks only on threads that opened it (Worker::run does); on others, and beyond the limits,
// it is plain malloc and free. A block may be released on another thread than the one that allocated it.
// Under AddressSanitizer listed blocks are poisoned, so that the use of a dead frame is reported.
//
// **Thread safety:** thread-safe (all state is the calling thread's own).

#include <array>
#include <cstddef>

namespace telltale::net {

class FrameList {
 public:
  static constexpr std::size_t kClassBytes = 64;             // sizes are rounded up to a multiple of this
  static constexpr std::size_t kLargestBytes = 4096;         // larger frames are never kept
  static constexpr std::size_t kRetainedBytesMax = 1 << 20;  // all classes of one thread together

  // Uninitialised memory for `bytes` bytes, aligned for any fundamental type. Terminates if there is none.
  // Cost: no lock; malloc if the class is empty.
  [[nodiscard]] static void* allocate(std::size_t bytes) noexcept;

  // REQUIRES: block came from allocate() with the same size.
  static void release(void* block, std::size_t bytes) noexcept;

  // Opens this thread's list, and gives its blocks back to malloc at the end. Not nestable.
  class Open {
   public:
    Open() noexcept;
    ~Open();
    Open(const Open&) = delete;
    Open& operator=(const Open&) = delete;
  };

  // Bytes in this thread's list that are free now.
  [[nodiscard]] static std::size_t retained_bytes() noexcept;

 private:
  struct Block {
    Block* next;
  };
  // No destructor: a frame may be released by whatever ends last on a thread.
  struct State {
    std::array<Block*, kLargestBytes / kClassBytes> free;
    std::size_t retained_bytes;
    bool open;
  };

  static thread_local constinit State state_;
};

}  // namespace telltale::net
