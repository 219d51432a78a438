// SPDX-License-Identifier: Apache-2.0
#pragma once
// The bytes received on a connection and not yet used. Borrows one block from its worker's pool while there
// are any, so an idle connection holds no memory.
//
//   block:  [ pinned head | used | data() ...... | room() ...... ]
//
// A head is parsed in place and stays where it is (pin) while its message is worked on: the views of its
// fields point here. Content is received behind it, handed out as views, and its room is used again.
// A block holds the largest head allowed and kContentRoom bytes more; the kernel provides only the pages
// that are touched.
//
// **Thread safety:** loop-bound.

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace telltale::http1 {

// Blocks of one size, kept for reuse; at most kKept are kept.
class BlockPool {
 public:
  static constexpr std::size_t kKept = 256;
  static constexpr std::size_t kContentRoom = 16 * 1024;

  explicit BlockPool(std::size_t head_bytes_max) : block_bytes_(head_bytes_max + kContentRoom) {}

  using Block = std::unique_ptr<char[]>;
  Block take() {
    if (kept_.empty()) return Block(new char[block_bytes_]);
    Block block = std::move(kept_.back());
    kept_.pop_back();
    return block;
  }
  void give(Block block, std::size_t bytes) {
    if (bytes == block_bytes_ && kept_.size() < kKept) kept_.push_back(std::move(block));
  }
  std::size_t block_bytes() const { return block_bytes_; }
  // Blocks taken from now on are this large; those in use keep their size.
  void set_head_bytes_max(std::size_t head_bytes_max) {
    if (head_bytes_max + kContentRoom == block_bytes_) return;
    block_bytes_ = head_bytes_max + kContentRoom;
    kept_.clear();
  }

 private:
  std::size_t block_bytes_;
  std::vector<Block> kept_;
};

class InputBuffer {
 public:
  explicit InputBuffer(BlockPool& pool) : pool_(pool) {}
  ~InputBuffer() { release(); }
  InputBuffer(const InputBuffer&) = delete;
  InputBuffer& operator=(const InputBuffer&) = delete;

  std::string_view data() const { return {block_.get() + begin_, end_ - begin_}; }
  bool empty() const { return begin_ == end_; }

  // Where to receive into. Empty only if nothing but a head and unused bytes is in the block, which then hold at
  // least kContentRoom / 2: callers look. Invalidates data(), keeps pinned bytes.
  std::span<char> room();
  void commit(std::size_t bytes) { end_ += bytes; }

  void consume(std::size_t bytes) { begin_ += bytes; }
  // Consumes a head, but keeps its bytes in place until unpin(). REQUIRES: nothing is pinned.
  void pin(std::size_t bytes) {
    begin_ += bytes;
    pinned_ = begin_;
  }
  // Invalidates data() too: what is left begins near the front again, so that the next head, wherever it lay, leaves
  // room for its content. Cost: a move of the rest once in kContentRoom / 2 bytes.
  void unpin();

  // Gives the block back. REQUIRES: empty() and nothing pinned.
  void release() {
    if (block_) pool_.give(std::move(block_), capacity_);
    begin_ = end_ = pinned_ = capacity_ = 0;
  }

 private:
  BlockPool& pool_;
  BlockPool::Block block_;
  std::size_t capacity_ = 0;
  std::size_t pinned_ = 0;  // bytes before this stay where they are
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace telltale::http1
