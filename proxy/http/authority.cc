// SPDX-License-Identifier: Apache-2.0
#include "http/authority.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "http/token.h"

namespace telltale::http {
namespace {

// A host's byte in lower case; 0 = none of a host's.
constexpr std::array<char, 256> host_table() {
  std::array<char, 256> table{};
  for (int i = 0; i < 128; ++i) {
    const char c = static_cast<char>(i), l = lower(c);
    if ((l >= 'a' && l <= 'z') || is_digit(c) || c == '-' || c == '.' || c == '_') table[static_cast<std::size_t>(i)] = l;
  }
  return table;
}
constexpr std::array<char, 256> kHostByte = host_table();

// What follows the host: nothing, or ':' and at most five digits.
bool parse_port(std::string_view text, std::uint16_t& port) {
  if (text.empty()) return true;
  if (text.front() != ':') return false;
  text.remove_prefix(1);
  if (text.empty()) return true;
  if (text.size() > 5) return false;
  unsigned value = 0;
  for (char c : text) {
    if (!is_digit(c)) return false;
    value = value * 10 + static_cast<unsigned>(c - '0');
  }
  if (value == 0 || value > 65535) return false;
  port = static_cast<std::uint16_t>(value);
  return true;
}

bool is_ipv6_address(std::string_view text) {
  char copy[INET6_ADDRSTRLEN];
  if (text.size() >= sizeof copy) return false;
  for (char c : text) {
    if (hex_value(c) < 0 && c != ':' && c != '.') return false;
  }
  std::memcpy(copy, text.data(), text.size());
  copy[text.size()] = '\0';
  in6_addr address;
  return inet_pton(AF_INET6, copy, &address) == 1;
}

}  // namespace

bool Authority::parse(std::string_view text) {
  clear();
  if (!text.empty() && text.front() == '[') return parse_ipv6(text);
  const std::size_t longest = std::min(text.size(), kHostMax);
  std::size_t size = 0;
  while (size < longest) {
    const char c = kHostByte[static_cast<unsigned char>(text[size])];
    if (c == 0) break;
    host_[size++] = c;
  }
  std::uint16_t port = kDefaultPort;
  if (size == 0 || !parse_port(text.substr(size), port)) return false;
  size_ = static_cast<std::uint16_t>(size);
  port_ = port;
  return true;
}

bool Authority::parse_ipv6(std::string_view text) {
  const std::size_t close = text.find(']');
  if (close == std::string_view::npos) return false;
  const std::string_view host = text.substr(1, close - 1);
  std::uint16_t port = kDefaultPort;
  if (!is_ipv6_address(host) || !parse_port(text.substr(close + 1), port)) return false;
  std::transform(host.begin(), host.end(), host_.begin(), lower);
  size_ = static_cast<std::uint16_t>(host.size());
  port_ = port;
  ipv6_ = true;
  return true;
}

}  // namespace telltale::http
