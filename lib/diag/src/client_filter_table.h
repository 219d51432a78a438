// SPDX-License-Identifier: Apache-2.0
#pragma once
// The client filters in force, flat: block after block, each with the number of its source.
//
// Fixed in size and made of atomics, so that a thread may read it while a change rewrites it; what it
// then read is thrown away (registry_verdict.h).
//
// **Thread safety:** one writer, under the registry's lock; readers need none.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "client_filter.h"

namespace telltale::diag {

inline constexpr std::size_t kClientBlocksMax = 1024;  // of the base and all leases together

class ClientFilterTable {
 public:
  void clear() noexcept { count_.store(0, std::memory_order_release); }
  // REQUIRES: at most kClientBlocksMax blocks since clear().
  void add(unsigned source, const std::vector<ClientBlock>& blocks) noexcept {
    std::size_t at = count_.load(std::memory_order_relaxed);
    for (const ClientBlock& block : blocks) {
      Row& row = rows_[at++];
      row.high.store(block.address.high, std::memory_order_release);
      row.low.store(block.address.low, std::memory_order_release);
      row.prefix_bits.store(block.prefix_bits, std::memory_order_release);
      row.source.store(static_cast<std::uint8_t>(source), std::memory_order_release);
    }
    count_.store(at, std::memory_order_release);
  }

  // Bit n: a block of source n contains the address.
  std::uint64_t match(const std::array<std::uint8_t, 16>& address) const noexcept {
    AddressBits bits = address_bits(address);
    std::uint64_t matched = 0;
    std::size_t count = count_.load(std::memory_order_acquire);
    for (std::size_t i = 0; i < count; ++i) {
      const Row& row = rows_[i];
      ClientBlock block{{row.high.load(std::memory_order_acquire), row.low.load(std::memory_order_acquire)},
                        row.prefix_bits.load(std::memory_order_acquire)};
      if (block_contains(block, bits)) matched |= std::uint64_t{1} << (row.source.load(std::memory_order_acquire) & 63);
    }
    return matched;
  }

 private:
  struct Row {
    std::atomic<std::uint64_t> high{0};
    std::atomic<std::uint64_t> low{0};
    std::atomic<std::uint8_t> prefix_bits{0};
    std::atomic<std::uint8_t> source{0};
  };
  std::atomic<std::size_t> count_{0};
  std::array<Row, kClientBlocksMax> rows_{};
};

}  // namespace telltale::diag
