// SPDX-License-Identifier: Apache-2.0
#include "http2/memory_pool.h"

#include <catch2/catch.hpp>

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

using telltale::http2::MemoryPool;

TEST_CASE("MemoryPool: a block that was given back is handed out again for any size of its class", "[http2][memory]") {
  MemoryPool pool;
  void* const first = pool.allocate(100);
  pool.release(first);
  CHECK(pool.kept_bytes() == 128);
  CHECK(pool.allocate(128) == first);
  CHECK(pool.kept_bytes() == 0);
  pool.release(first);
  void* const other = pool.allocate(129);
  CHECK(other != first);
  pool.release(other);
}

TEST_CASE("MemoryPool: blocks above the largest size are not kept, those of it are", "[http2][memory]") {
  MemoryPool pool;
  pool.release(pool.allocate(MemoryPool::kLargest + 1));
  CHECK(pool.kept_bytes() == 0);
  pool.release(pool.allocate(MemoryPool::kLargest));
  CHECK(pool.kept_bytes() == MemoryPool::kLargest);
}

TEST_CASE("MemoryPool: it keeps up to its bound and not a block more", "[http2][memory]") {
  MemoryPool pool;
  constexpr std::size_t kFit = MemoryPool::kKeptBytesMax / MemoryPool::kLargest;
  std::vector<void*> blocks;
  for (std::size_t i = 0; i < kFit + 1; ++i) blocks.push_back(pool.allocate(MemoryPool::kLargest));
  for (std::size_t i = 0; i < kFit; ++i) pool.release(blocks[i]);
  CHECK(pool.kept_bytes() == MemoryPool::kKeptBytesMax);
  pool.release(blocks[kFit]);
  CHECK(pool.kept_bytes() == MemoryPool::kKeptBytesMax);
}

TEST_CASE("MemoryPool: blocks keep their content through growing and shrinking, whatever the sizes",
          "[http2][memory]") {
  MemoryPool pool;
  std::mt19937 random(1);
  struct One {
    unsigned char* block;
    std::size_t bytes;
    unsigned char fill;
  };
  std::vector<One> all(64, One{nullptr, 0, 0});
  for (int i = 0; i < 20'000; ++i) {
    One& one = all[random() % all.size()];
    for (std::size_t at = 0; at < one.bytes; ++at) REQUIRE(one.block[at] == one.fill);
    const std::size_t bytes = random() % 2500;
    if (random() % 3 == 0) {
      pool.release(one.block);
      one = {nullptr, 0, 0};
      continue;
    }
    auto* const block = static_cast<unsigned char*>(pool.resize(one.block, bytes));
    REQUIRE(reinterpret_cast<std::uintptr_t>(block) % alignof(std::max_align_t) == 0);
    for (std::size_t at = 0; at < std::min(bytes, one.bytes); ++at) REQUIRE(block[at] == one.fill);
    one = {block, bytes, static_cast<unsigned char>(random())};
    if (bytes != 0) std::memset(block, one.fill, bytes);
  }
  for (const One& one : all) pool.release(one.block);
}

TEST_CASE("MemoryPool: nghttp2's functions zero what they should, and refuse a product that overflows",
          "[http2][memory]") {
  MemoryPool pool;
  const nghttp2_mem& functions = *pool.functions();
  void* block = functions.malloc(64, functions.mem_user_data);
  std::memset(block, 0xff, 64);
  functions.free(block, functions.mem_user_data);
  block = functions.calloc(8, 8, functions.mem_user_data);
  const unsigned char zeros[64] = {};
  CHECK(std::memcmp(block, zeros, 64) == 0);
  functions.free(block, functions.mem_user_data);
  functions.free(nullptr, functions.mem_user_data);
  CHECK(functions.calloc(SIZE_MAX / 2, 3, functions.mem_user_data) == nullptr);
}
