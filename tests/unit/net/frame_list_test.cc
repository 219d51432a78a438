// SPDX-License-Identifier: Apache-2.0
#include "net/frame_list.h"

#include <catch2/catch.hpp>
#include <thread>
#include <vector>

namespace telltale::net {
namespace {

TEST_CASE("FrameList: an open list gives a released block out again", "[net][frame_list]") {
  const FrameList::Open open;
  void* const first = FrameList::allocate(100);
  FrameList::release(first, 100);
  CHECK(FrameList::retained_bytes() == 128);
  void* const second = FrameList::allocate(128);  // the same class: 65 to 128 bytes
  CHECK(second == first);
  CHECK(FrameList::retained_bytes() == 0);
  FrameList::release(second, 128);
}

TEST_CASE("FrameList: without an open list nothing is kept", "[net][frame_list]") {
  FrameList::release(FrameList::allocate(100), 100);
  CHECK(FrameList::retained_bytes() == 0);
}

TEST_CASE("FrameList: the largest class is kept, one byte more is not", "[net][frame_list]") {
  const FrameList::Open open;
  FrameList::release(FrameList::allocate(FrameList::kLargestBytes), FrameList::kLargestBytes);
  CHECK(FrameList::retained_bytes() == FrameList::kLargestBytes);
  FrameList::release(FrameList::allocate(FrameList::kLargestBytes + 1), FrameList::kLargestBytes + 1);
  CHECK(FrameList::retained_bytes() == FrameList::kLargestBytes);
}

TEST_CASE("FrameList: it fills to its limit and no further", "[net][frame_list]") {
  const FrameList::Open open;
  constexpr std::size_t kFit = FrameList::kRetainedBytesMax / FrameList::kLargestBytes;
  std::vector<void*> blocks;
  for (std::size_t i = 0; i < kFit + 1; ++i) {
    blocks.push_back(FrameList::allocate(FrameList::kLargestBytes));
  }
  for (std::size_t i = 0; i < kFit; ++i) {
    FrameList::release(blocks[i], FrameList::kLargestBytes);
  }
  CHECK(FrameList::retained_bytes() == FrameList::kRetainedBytesMax);
  FrameList::release(blocks[kFit], FrameList::kLargestBytes);
  CHECK(FrameList::retained_bytes() == FrameList::kRetainedBytesMax);
}

TEST_CASE("FrameList: a closed list has given everything back", "[net][frame_list]") {
  {
    const FrameList::Open open;
    FrameList::release(FrameList::allocate(64), 64);
    FrameList::release(FrameList::allocate(4000), 4000);
  }
  CHECK(FrameList::retained_bytes() == 0);
}

TEST_CASE("FrameList: a block may be released on another thread", "[net][frame_list]") {
  void* const block = FrameList::allocate(200);
  std::thread([block] {
    const FrameList::Open open;
    FrameList::release(block, 200);
    CHECK(FrameList::retained_bytes() == 256);
  }).join();
}

}  // namespace
}  // namespace telltale::net
