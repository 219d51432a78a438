// SPDX-License-Identifier: Apache-2.0
#include "client_filter.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "client_filter_table.h"

namespace telltale::diag {
namespace {

using Bytes = std::array<std::uint8_t, 16>;

struct Parsed {
  Bytes bytes{};
  bool v4 = false;
};

std::optional<Parsed> parse_address(std::string_view text) {
  char copy[INET6_ADDRSTRLEN] = {};
  if (text.empty() || text.size() >= sizeof copy || text.find('\0') != std::string_view::npos) return std::nullopt;
  text.copy(copy, text.size());
  Parsed parsed;
  if (inet_pton(AF_INET6, copy, parsed.bytes.data()) == 1) return parsed;
  parsed.v4 = true;
  parsed.bytes[10] = parsed.bytes[11] = 0xff;
  if (inet_pton(AF_INET, copy, parsed.bytes.data() + 12) == 1) return parsed;
  return std::nullopt;
}

AddressBits mask(unsigned prefix_bits) noexcept {
  auto word = [](unsigned bits) { return bits == 0 ? 0 : ~std::uint64_t{0} << (64 - bits); };
  return {word(std::min(prefix_bits, 64u)), word(prefix_bits <= 64 ? 0 : prefix_bits - 64)};
}

std::string text_of(Bytes bytes, bool v4, const AddressBits& bits) {
  for (int i = 0; i < 8; ++i) {
    bytes[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(bits.high >> (56 - 8 * i));
    bytes[static_cast<std::size_t>(i) + 8] = static_cast<std::uint8_t>(bits.low >> (56 - 8 * i));
  }
  char text[INET6_ADDRSTRLEN] = {};
  inet_ntop(v4 ? AF_INET : AF_INET6, v4 ? bytes.data() + 12 : bytes.data(), text, sizeof text);
  return text;
}

tl::expected<ClientBlock, std::string> parse_item(std::string_view item) {
  std::size_t slash = item.find('/');
  std::optional<Parsed> parsed = parse_address(item.substr(0, slash));
  if (!parsed) {
    return tl::unexpected(fmt::format("\"{}\" is not an address; expected an IPv4 or IPv6 address or a block such as 10.0.0.0/8",
                                      item));
  }
  ClientBlock block{address_bits(parsed->bytes), 128};
  if (slash == std::string_view::npos) return block;

  std::string_view digits = item.substr(slash + 1);
  unsigned most = parsed->v4 ? 32 : 128;
  unsigned prefix = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), prefix);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size() || prefix > most) {
    return tl::unexpected(fmt::format("\"{}\" has no valid prefix length; expected 0 to {} behind the '/'", item, most));
  }
  block.prefix_bits = static_cast<std::uint8_t>(parsed->v4 ? prefix + 96 : prefix);
  AddressBits kept = mask(block.prefix_bits);
  AddressBits network{block.address.high & kept.high, block.address.low & kept.low};
  if (network != block.address) {
    return tl::unexpected(fmt::format("\"{}\" has address bits set beyond its prefix; expected {}/{}, or the address alone",
                                      item, text_of(parsed->bytes, parsed->v4, network), prefix));
  }
  return block;
}

}  // namespace

AddressBits address_bits(const Bytes& address) noexcept {
  AddressBits bits;
  for (std::size_t i = 0; i < 8; ++i) {
    bits.high = bits.high << 8 | address[i];
    bits.low = bits.low << 8 | address[i + 8];
  }
  return bits;
}

bool block_contains(const ClientBlock& block, const AddressBits& address) noexcept {
  AddressBits kept = mask(block.prefix_bits);
  return ((block.address.high ^ address.high) & kept.high) == 0 && ((block.address.low ^ address.low) & kept.low) == 0;
}

tl::expected<std::vector<ClientBlock>, Refusal> parse_client_list(std::string_view list) {
  std::vector<ClientBlock> blocks;
  if (list.find_first_not_of(' ') == std::string_view::npos) return blocks;
  std::size_t at = 0;
  for (;;) {
    std::size_t comma = std::min(list.find(',', at), list.size());
    std::string_view item = list.substr(at, comma - at);
    std::size_t first = std::min(item.find_first_not_of(' '), item.size());
    item = item.substr(first, item.find_last_not_of(' ') + 1 - first);
    if (item.empty()) return tl::unexpected(Refusal{"an item of the client list is empty; expected an address", at});
    auto block = parse_item(item);
    if (!block) return tl::unexpected(Refusal{std::move(block.error()), at + first});
    if (blocks.size() == kClientBlocksMax) {
      return tl::unexpected(Refusal{fmt::format("the client list is longer than {} addresses", kClientBlocksMax), at + first});
    }
    blocks.push_back(*block);
    if (comma == list.size()) return blocks;
    at = comma + 1;
  }
}

}  // namespace telltale::diag
