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
  [[nodiscard]] static void* allocate(std::size_t bytes) noexcept {
    if (!kPoisons && bytes - 1 < kLargestBytes) {
      if (Block* const block = state_.free[class_of(bytes)]) [[likely]] {
        state_.free[class_of(bytes)] = block->next;
        state_.retained_bytes -= bytes_of(class_of(bytes));
        return block;
      }
    }
    return allocate_rarely(bytes);
  }

  // REQUIRES: block came from allocate() with the same size.
  static void release(void* memory, std::size_t bytes) noexcept {
    if (!kPoisons && bytes - 1 < kLargestBytes && state_.open) [[likely]] {
      const std::size_t retained = state_.retained_bytes + bytes_of(class_of(bytes));
      if (retained <= kRetainedBytesMax) [[likely]] {
        auto* const block = static_cast<Block*>(memory);
        block->next = state_.free[class_of(bytes)];
        state_.free[class_of(bytes)] = block;
        state_.retained_bytes = retained;
        return;
      }
    }
    release_rarely(memory, bytes);
  }

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
#if defined(__SANITIZE_ADDRESS__)
  static constexpr bool kPoisons = true;
#else
  static constexpr bool kPoisons = false;
#endif
  static constexpr std::size_t class_of(std::size_t bytes) { return (bytes - 1) / kClassBytes; }
  static constexpr std::size_t bytes_of(std::size_t size_class) { return (size_class + 1) * kClassBytes; }
  // The same, in full.
  static void* allocate_rarely(std::size_t bytes) noexcept;
  static void release_rarely(void* memory, std::size_t bytes) noexcept;

  // No destructor: a frame may be released by whatever ends last on a thread.
  struct State {
    std::array<Block*, kLargestBytes / kClassBytes> free;
    std::size_t retained_bytes;
    bool open;
  };

  [[gnu::tls_model("initial-exec")]] static thread_local constinit State state_;
};

}  // namespace telltale::net
