// SPDX-License-Identifier: Apache-2.0
#pragma once

// Host and port of a request, from the Host field (or :authority). Holds a lower-case copy of the
// host, so that it can be compared and outlives the buffer; no allocation.
//
// Stricter than the grammar, because hosts end up in cache keys and log lines: a host is an IPv6
// literal in brackets, or one to 255 of the bytes A-Z a-z 0-9 - . _ ; no percent-encoding, no
// sub-delimiters, no user-info, no zone. A port is empty (the default) or 1 to 65535.
//
// **Thread safety:** thread-compatible.
// **Source:** RFC 3986 section 3.2, RFC 9110 sections 4.2.1 and 7.2.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace telltale::http {

class Authority {
 public:
  static constexpr std::size_t kHostMax = 255;
  static constexpr std::uint16_t kDefaultPort = 80;

  // Reads `text`; false, and empty, if it is not a host with an optional port.
  [[nodiscard]] bool parse(std::string_view text);
  void clear() { size_ = 0, port_ = kDefaultPort, ipv6_ = false; }

  bool empty() const { return size_ == 0; }
  // Lower case; an IPv6 address without its brackets. Lives as long as this object stays unchanged.
  std::string_view host() const { return {host_.data(), size_}; }
  bool is_ipv6() const { return ipv6_; }
  std::uint16_t port() const { return port_; }

  friend bool operator==(const Authority& a, const Authority& b) {
    return a.port_ == b.port_ && a.ipv6_ == b.ipv6_ && a.host() == b.host();
  }

 private:
  bool parse_ipv6(std::string_view text);

  std::uint16_t size_ = 0;
  std::uint16_t port_ = kDefaultPort;
  bool ipv6_ = false;
  std::array<char, kHostMax> host_;  // the first size_ bytes are set
};

}  // namespace telltale::http
