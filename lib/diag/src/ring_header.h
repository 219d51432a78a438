// SPDX-License-Identifier: Apache-2.0
#pragma once
// RingHeader: what lies in front of a ring's data, in the same mapping: all that a reader needs who has nothing
// but these bytes, from a file of a process that lives, is dead, or was on another host, or from a core file.
//
// Records follow one another without a mark, so in what the ring still holds a reader must be told where one
// begins: `blocks` has, for each block of the data, the position of the first record that begins in it. An
// entry counts if it is in its block, not before the oldest byte and before `published`; others are of an
// earlier round. The same table leads a reader on behind damage.
//
//   position                      bytes there
//   < claimed - capacity          may have been overwritten, or be being so
//   claimed - capacity ..         records, readable
//   published ..                  of the round before, or of a record that is being written
//
// The producer claims block by block, before it writes there. A reader copies, then reads `claimed` again, and
// drops what is below.
//
// **Thread safety:** written by the ring's producer, read by anybody. Partners: claimed (relaxed, fence behind
// it) against the reader's copy before its second look; published (release) against the acquire of readers.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <telltale/diag/ring_front.h>

#include "ring_drops.h"

namespace telltale::diag {

inline constexpr std::size_t kThreadNameBytes = 16;  // with its NUL
inline constexpr std::size_t kRingOwners = 8;
inline constexpr std::uint64_t kRingBlockBytes = 4096;  // in small rings an eighth of the ring

inline constexpr std::uint32_t kRingByteOrder = 0x01020304;

enum class RingUse : std::uint32_t { kOutput, kRecorder };

// Who writes from a position on.
struct RingOwner {
  static constexpr std::uint64_t kNobody = ~std::uint64_t{0};
  std::atomic<std::uint64_t> from{kNobody};
  std::array<std::atomic<std::uint64_t>, kThreadNameBytes / 8> name{};
};

struct RingAbout {
  std::uint64_t run[2] = {};  // the id of the dictionary (LogId) that explains its records; 0: none
  std::uint32_t pid = 0;
  RingUse use = RingUse::kOutput;
  std::uint32_t number = 0;
};

struct alignas(64) RingHeader {
  static constexpr char kMagic[8] = {'T', 't', 'l', 'R', 'i', 'n', 'g', '1'};

  // Constant once the magic is there.
  char magic[8] = {};
  std::uint32_t header_bytes = 0;  // from here to the data
  std::uint32_t block_bytes = 0;
  std::uint64_t capacity_bytes = 0;
  RingAbout about;
  std::uint32_t byte_order = 0;

  alignas(64) RingPositions positions;
  alignas(64) std::atomic<std::uint64_t> owners_count{0};
  std::array<RingOwner, kRingOwners> owners{};
  alignas(64) DropCounts drops;  // written only on a drop

  std::uint64_t blocks_count() const noexcept { return capacity_bytes / block_bytes; }
  std::atomic<std::uint64_t>* blocks() noexcept { return reinterpret_cast<std::atomic<std::uint64_t>*>(this + 1); }
  const std::atomic<std::uint64_t>* blocks() const noexcept {
    return reinterpret_cast<const std::atomic<std::uint64_t>*>(this + 1);
  }

  static constexpr std::uint64_t block_bytes_of(std::uint64_t capacity) noexcept {
    return capacity / 8 < kRingBlockBytes ? capacity / 8 : kRingBlockBytes;
  }
  // Whole pages, for a ring that is mapped.
  static constexpr std::size_t bytes_of(std::uint64_t capacity) noexcept;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

constexpr std::size_t RingHeader::bytes_of(std::uint64_t capacity) noexcept {
  return (sizeof(RingHeader) + capacity / block_bytes_of(capacity) * 8 + 4095) / 4096 * 4096;
}

}  // namespace telltale::diag
