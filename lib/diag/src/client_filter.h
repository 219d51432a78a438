// SPDX-License-Identifier: Apache-2.0
#pragma once
// Client filters: lists of addresses and CIDR blocks, parsed.
//
// IPv4 is kept as ::ffff:a.b.c.d, so both spellings of an address are equal and "::/0" is every client.
// A block whose address has bits beyond its prefix is refused: "10.1.2.3/8" is more often a slip for
// "10.1.2.3" than for "10.0.0.0/8", and the message names the latter.
//
// **Thread safety:** immutable values, pure functions.

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include <telltale/diag/debug_control.h>

namespace telltale::diag {

// An IPv6 address as two numbers, most significant first.
struct AddressBits {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend bool operator==(const AddressBits&, const AddressBits&) = default;
};
AddressBits address_bits(const std::array<std::uint8_t, 16>& address) noexcept;

struct ClientBlock {
  AddressBits address;
  std::uint8_t prefix_bits = 128;  // 0 to 128, counted in IPv6
};
bool block_contains(const ClientBlock& block, const AddressBits& address) noexcept;

// Comma-separated, blanks around items allowed; an empty list has no blocks.
// Errors: what is wrong, and the offset of the item.
tl::expected<std::vector<ClientBlock>, Refusal> parse_client_list(std::string_view list);

}  // namespace telltale::diag
