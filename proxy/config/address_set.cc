// SPDX-License-Identifier: Apache-2.0
#include "config/address_set.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "config/problem.h"

namespace telltale::config {
namespace {

using Failure = tl::unexpected<std::string>;

constexpr int kMappedBits = 96;

bool is_ipv4(const AddressBytes& a) {
  return std::all_of(a.begin(), a.begin() + 10, [](std::uint8_t b) { return b == 0; }) && a[10] == 0xFF &&
         a[11] == 0xFF;
}

bool same_prefix(const AddressBytes& a, const AddressBytes& b, int bits) {
  const int whole = bits / 8;
  if (std::memcmp(a.data(), b.data(), static_cast<std::size_t>(whole)) != 0) return false;
  if (bits % 8 == 0) return true;
  const auto mask = static_cast<std::uint8_t>(0xFF << (8 - bits % 8));
  return (a[static_cast<std::size_t>(whole)] & mask) == (b[static_cast<std::size_t>(whole)] & mask);
}

AddressBytes network_of(AddressBytes a, int bits) {
  for (int i = 0; i < 16; ++i) {
    const int kept = std::clamp(bits - 8 * i, 0, 8);
    a[static_cast<std::size_t>(i)] &= static_cast<std::uint8_t>(0xFF << (8 - kept));
  }
  return a;
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

}  // namespace

AddressBytes mapped(const std::array<std::uint8_t, 4>& ipv4) {
  AddressBytes bytes{};
  bytes[10] = bytes[11] = 0xFF;
  std::copy(ipv4.begin(), ipv4.end(), bytes.begin() + 12);
  return bytes;
}

tl::expected<AddressBytes, std::string> parse_address(std::string_view text) {
  // inet_pton reads up to a NUL, so a text that holds one would be read in part.
  const std::string terminated(text);
  if (text.find('\0') == std::string_view::npos) {
    std::array<std::uint8_t, 4> ipv4;
    AddressBytes ipv6;
    if (inet_pton(AF_INET, terminated.c_str(), ipv4.data()) == 1) return mapped(ipv4);
    if (inet_pton(AF_INET6, terminated.c_str(), ipv6.data()) == 1) return ipv6;
  }
  return Failure(quote(text) + " is not a numeric address");
}

tl::expected<AddressSet, std::string> AddressSet::parse(std::string_view text) {
  AddressSet set;
  if (trimmed(text).empty()) return set;
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string_view item = trimmed(text.substr(0, comma));
    if (item.empty()) return Failure("an empty address in the list");
    const std::size_t slash = item.find('/');
    const auto address = parse_address(item.substr(0, slash));
    if (!address) return Failure(address.error());
    int bits = 128;
    if (slash != std::string_view::npos) {
      const bool dotted = item.substr(0, slash).find(':') == std::string_view::npos;
      const int most = dotted ? 32 : 128;
      const std::string_view digits = item.substr(slash + 1);
      const bool plain = !digits.empty() && digits.size() <= 3 && (digits.size() == 1 || digits[0] != '0') &&
                         digits.find_first_not_of("0123456789") == std::string_view::npos;
      const int given = plain ? std::stoi(std::string(digits)) : -1;
      if (given < 0 || given > most)
        return Failure(fmt::format("{} needs 0 to {} bits after the slash", quote(item), most));
      bits = dotted ? given + kMappedBits : given;
      if (network_of(*address, bits) != *address)
        return Failure(fmt::format("{} has bits set behind its first {}", quote(item), given));
    }
    if (set.entries_.size() == kEntriesMax)
      return Failure(fmt::format("more than {} addresses", kEntriesMax));
    set.entries_.push_back({*address, bits});
    if (comma == std::string_view::npos) return set;
    text.remove_prefix(comma + 1);
  }
}

bool AddressSet::contains(const AddressBytes& address) const {
  const bool ipv4 = is_ipv4(address);
  return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    const bool entry_ipv4 = entry.bits >= kMappedBits && is_ipv4(entry.address);
    return entry_ipv4 == ipv4 && same_prefix(entry.address, address, entry.bits);
  });
}

}  // namespace telltale::config
