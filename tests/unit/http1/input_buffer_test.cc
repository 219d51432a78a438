// SPDX-License-Identifier: Apache-2.0
#include "http1/input_buffer.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <string>

namespace telltale::http1 {
namespace {

constexpr std::size_t kHeadMax = 1024;

void receive(InputBuffer& input, std::string_view bytes) {
  const std::span<char> room = input.room();
  REQUIRE(room.size() >= bytes.size());
  std::copy(bytes.begin(), bytes.end(), room.begin());
  input.commit(bytes.size());
}

std::string pattern(std::size_t bytes, unsigned seed = 0) {
  std::string text(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>('a' + (i + seed) % 26);
  return text;
}

TEST_CASE("BlockPool: gives blocks again, and keeps no more than its limit", "[http1][input]") {
  BlockPool pool(kHeadMax);
  CHECK(pool.block_bytes() == kHeadMax + BlockPool::kContentRoom);
  std::vector<BlockPool::Block> blocks;
  std::vector<char*> addresses;
  for (std::size_t i = 0; i < BlockPool::kKept + 1; ++i) {
    blocks.push_back(pool.take());
    addresses.push_back(blocks.back().get());
  }
  for (auto& block : blocks) pool.give(std::move(block), pool.block_bytes());
  // The first kKept came back and are kept, last in first out; the one above the limit is not.
  for (std::size_t i = BlockPool::kKept; i-- > 0;) {
    blocks[i] = pool.take();
    REQUIRE(blocks[i].get() == addresses[i]);
  }
}

TEST_CASE("BlockPool: after a change of size, blocks of the old size are not kept", "[http1][input]") {
  BlockPool pool(kHeadMax);
  BlockPool::Block old = pool.take();
  const std::size_t old_bytes = pool.block_bytes();
  pool.set_head_bytes_max(2 * kHeadMax);
  CHECK(pool.block_bytes() == 2 * kHeadMax + BlockPool::kContentRoom);
  pool.give(std::move(old), old_bytes);
  BlockPool::Block fresh = pool.take();
  std::fill_n(fresh.get(), pool.block_bytes(), 'x');  // a sanitizer would see an old block
  pool.give(std::move(fresh), pool.block_bytes());
}

TEST_CASE("InputBuffer: holds no block until it is asked for room, and none after release", "[http1][input]") {
  BlockPool pool(kHeadMax);
  InputBuffer one(pool), other(pool);
  CHECK(one.empty());
  CHECK(one.data().empty());
  char* const block = one.room().data();
  one.commit(3);
  one.consume(3);
  one.release();
  CHECK(one.empty());
  CHECK(other.room().data() == block);  // the same block serves the next connection
}

TEST_CASE("InputBuffer: a destroyed buffer gives its block back", "[http1][input]") {
  BlockPool pool(kHeadMax);
  char* block;
  {
    InputBuffer input(pool);
    block = input.room().data();
    receive(input, "unread");
  }
  CHECK(InputBuffer(pool).room().data() == block);
}

TEST_CASE("InputBuffer: a pinned head stays where it is while content passes behind it", "[http1][input]") {
  BlockPool pool(kHeadMax);
  InputBuffer input(pool);
  receive(input, "HEADcontent");
  const std::string_view head = input.data().substr(0, 4);
  input.pin(4);
  CHECK(input.data() == "content");
  input.consume(7);
  for (int i = 0; i < 100; ++i) {
    const std::string piece = pattern(1000, i);
    receive(input, piece);
    REQUIRE(input.data() == piece);
    input.consume(1000);
    REQUIRE(head == "HEAD");
  }
  // Its room is used again: never less than all but the head.
  CHECK(input.room().size() == pool.block_bytes() - 4);
}

TEST_CASE("InputBuffer: a head that fills the block leaves no room until it is unpinned", "[http1][input]") {
  BlockPool pool(kHeadMax);
  InputBuffer input(pool);
  receive(input, pattern(pool.block_bytes()));
  CHECK(input.room().empty());
  input.pin(pool.block_bytes());
  CHECK(input.empty());
  CHECK(input.room().empty());
  input.unpin();
  CHECK(input.room().size() == pool.block_bytes());
}

TEST_CASE("InputBuffer: what is left over moves to the front when the block is full", "[http1][input]") {
  BlockPool pool(kHeadMax);
  InputBuffer input(pool);
  const std::string all = pattern(pool.block_bytes());
  receive(input, all);
  input.consume(10);
  const std::size_t room = input.room().size();
  CHECK(room == 10);
  CHECK(input.data() == std::string_view(all).substr(10));
  receive(input, "0123456789");
  CHECK(input.data() == all.substr(10) + "0123456789");
}

TEST_CASE("InputBuffer: wherever a pipelined head lies, there is room for its content", "[http1][input]") {
  BlockPool pool(kHeadMax);
  const std::size_t block = pool.block_bytes();
  for (std::size_t head_bytes : {std::size_t{1}, std::size_t{100}, kHeadMax}) {
    for (std::size_t end : {block, block - 1, block - 100, block / 2 + kHeadMax}) {
      INFO("a head of " << head_bytes << " bytes that ends at " << end << " of " << block);
      InputBuffer input(pool);
      receive(input, pattern(end));
      input.pin(end - head_bytes);  // requests before it, the last one's head still pinned
      input.unpin();
      const std::string expected = pattern(end).substr(end - head_bytes);
      CHECK(input.data() == expected);
      const std::string_view head = input.data();
      input.pin(head_bytes);
      CHECK(input.room().size() >= BlockPool::kContentRoom / 2);
      CHECK(head == expected);
    }
  }
}

// What a buffer is, said slowly: the bytes that came and were not used, and a pinned head beside them.
TEST_CASE("InputBuffer: does what a plain string does, on random input", "[http1][input]") {
  std::mt19937 random(5);
  auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n)(random); };
  BlockPool pool(kHeadMax);
  for (int round = 0; round < 50; ++round) {
    InputBuffer input(pool);
    std::string data, head;
    std::string_view pinned;
    unsigned seed = 0;
    for (int step = 0; step < 400; ++step) {
      switch (random() % 6) {
        case 0:
        case 1:
        case 2: {
          const std::span<char> room = input.room();
          const std::string piece = pattern(below(std::min<std::size_t>(room.size(), 3000)), ++seed);
          std::copy(piece.begin(), piece.end(), room.begin());
          input.commit(piece.size());
          data += piece;
          break;
        }
        case 3: {
          const std::size_t bytes = below(data.size());
          input.consume(bytes);
          data.erase(0, bytes);
          break;
        }
        case 4:
          if (!data.empty() && pinned.empty()) {
            const std::size_t bytes = 1 + below(std::min(data.size(), kHeadMax) - 1);
            input.unpin();  // of the message before
            pinned = input.data().substr(0, bytes);
            head = data.substr(0, bytes);
            input.pin(bytes);
            data.erase(0, bytes);
          }
          break;
        case 5:
          input.unpin();
          pinned = {};
          head.clear();
          if (data.empty()) input.release();
          break;
      }
      REQUIRE(input.data() == data);
      REQUIRE(input.empty() == data.empty());
      REQUIRE(pinned == head);
      // Full only of bytes that nobody has used: one read is always possible.
      if (input.room().empty()) REQUIRE(data.size() + head.size() >= BlockPool::kContentRoom / 2);
      REQUIRE(input.data() == data);
      REQUIRE(pinned == head);
    }
  }
}

}  // namespace
}  // namespace telltale::http1
