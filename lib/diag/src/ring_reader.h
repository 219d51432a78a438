// SPDX-License-Identifier: Apache-2.0
#pragma once
// RingReader: the backend's end of one ring: how far it has read, whose records these are, and which
// losses it has shown already.
//
// **Thread safety:** backend only.

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include <telltale/diag/record.h>

#include "ring.h"

namespace telltale::diag {

// Drops already shown, by slot of a DropCounts.
struct DropsShown {
  std::array<std::uint64_t, DropCounts::kSlots> by_slot{};
  std::uint64_t total = 0;

  // How many of the `count` seen so far under `slot` are new; they count as shown then.
  std::uint64_t take_new(std::size_t slot, std::uint64_t count) noexcept {
    std::uint64_t fresh = count > by_slot[slot] ? count - by_slot[slot] : 0;
    by_slot[slot] += fresh;
    total += fresh;
    return fresh;
  }
};

struct RingReader {
  Ring* ring = nullptr;
  std::uint64_t position = 0;
  std::uint64_t given_back = 0;  // position last told to the producer
  std::string thread;
  std::uint32_t thread_id = 0;  // the kernel's
  DropsShown shown;

  // This pass: up to where, and the drops that lie behind it (only if `drops_known`).
  std::uint64_t end = 0;
  bool drops_known = false;
  std::array<std::uint64_t, DropCounts::kSlots> drops{};

  // The pass reads to min(published, upto). Drop counts are read before the end is: if the ring is then
  // drained to that end, every drop seen lies behind it, and its place in the output is here, if `losses` are
  // to be shown.
  void begin(std::uint64_t upto, bool losses) noexcept {
    bool some = losses && ring->drops().total() != shown.total;
    if (some) {
      for (std::size_t i = 0; i < drops.size(); ++i) drops[i] = ring->drops().count(i);
    }
    std::uint64_t published = ring->published();
    end = published < upto ? published : upto;
    drops_known = some && end == published;
  }

  // The next record that is not a pad; null: at the end.
  const char* peek(RecordHeader& header) noexcept {
    while (position < end) {
      const char* at = ring->at(position);
      std::uint32_t head[2];
      std::memcpy(head, at, sizeof head);
      if (head[1] != kPadSite) {
        std::memcpy(&header, at, sizeof header);
        return at;
      }
      position += head[0];
    }
    return nullptr;
  }

  void give_back() noexcept {
    if (given_back == position) return;
    given_back = position;
    ring->consumed(position);
  }
};

}  // namespace telltale::diag
