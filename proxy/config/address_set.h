// SPDX-License-Identifier: Apache-2.0
//
// The value of proxy.config.diags.debug.client_ip: a set of client addresses, written as addresses and
// ADDRESS/BITS separated by commas. It knows numeric addresses only and resolves nothing.
//
// **Thread safety:** immutable.
// **Source:** RFC 4291 section 2.5.5.2 (an IPv4-mapped address is the IPv4 address), RFC 4632 (prefixes).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace telltale::config {

// 16 bytes in network order; an IPv4 address is held as ::ffff:a.b.c.d.
using AddressBytes = std::array<std::uint8_t, 16>;

// The bytes of a numeric IPv4 or IPv6 address. Errors: a sentence.
tl::expected<AddressBytes, std::string> parse_address(std::string_view text);
AddressBytes mapped(const std::array<std::uint8_t, 4>& ipv4);

class AddressSet {
 public:
  static constexpr std::size_t kEntriesMax = 64;

  // Empty text is the empty set. Errors: a sentence; bits set behind the prefix are one, since
  // 10.1.2.3/8 is a slip that would widen one address to sixteen million.
  static tl::expected<AddressSet, std::string> parse(std::string_view text);

  // An IPv4-mapped IPv6 address is the IPv4 address; apart from that the families do not meet: ::/0
  // holds no IPv4 address. Cost: walks the entries; no lock, no allocation.
  bool contains(const AddressBytes& address) const;

  bool empty() const { return entries_.empty(); }

 private:
  struct Entry {
    AddressBytes address;
    int bits;  // of the 128
  };
  std::vector<Entry> entries_;
};

}  // namespace telltale::config
