// SPDX-License-Identifier: Apache-2.0
#include "net/endpoint.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

namespace telltale::net {
namespace {

constexpr std::array<std::uint8_t, 12> kMappedPrefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{} || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return port;
}

}  // namespace

Endpoint::Endpoint() noexcept : bytes_{} {
  std::copy(kMappedPrefix.begin(), kMappedPrefix.end(), bytes_.begin());
}

bool Endpoint::is_v4() const noexcept {
  return std::equal(kMappedPrefix.begin(), kMappedPrefix.end(), bytes_.begin());
}

bool Endpoint::is_any() const noexcept {
  return std::all_of(bytes_.begin() + (is_v4() ? 12 : 0), bytes_.end(), [](std::uint8_t byte) { return byte == 0; });
}

Endpoint Endpoint::with_port(std::uint16_t port) const noexcept {
  Endpoint other = *this;
  other.port_ = port;
  return other;
}

std::optional<Endpoint> Endpoint::from_literal(std::string_view address, std::uint16_t port) noexcept {
  if (address.size() >= 2 && address.front() == '[' && address.back() == ']') {
    address = address.substr(1, address.size() - 2);
    if (address.find(':') == std::string_view::npos) {
      return std::nullopt;
    }
  }
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.size() >= text.size() || address.find('\0') != std::string_view::npos) {
    return std::nullopt;
  }
  std::copy(address.begin(), address.end(), text.begin());

  Endpoint endpoint;
  endpoint.port_ = port;
  if (::inet_pton(AF_INET, text.data(), endpoint.bytes_.data() + 12) == 1) {
    return endpoint;
  }
  if (::inet_pton(AF_INET6, text.data(), endpoint.bytes_.data()) == 1) {
    return endpoint;
  }
  return std::nullopt;
}

tl::expected<Endpoint, std::string> Endpoint::parse(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  const bool bracketed = !text.empty() && text.front() == '[';
  if (colon == std::string_view::npos || (bracketed ? text[colon - 1] != ']' : text.find(':') != colon)) {
    return tl::make_unexpected(fmt::format("'{}': expected ADDRESS:PORT, an IPv6 address in brackets", text));
  }
  const auto port = parse_port(text.substr(colon + 1));
  if (!port) {
    return tl::make_unexpected(
        fmt::format("'{}': expected a port from 0 to 65535 after the colon, not '{}'", text, text.substr(colon + 1)));
  }
  const auto endpoint = from_literal(text.substr(0, colon), *port);
  if (!endpoint) {
    return tl::make_unexpected(fmt::format("'{}': '{}' is not an IP address", text, text.substr(0, colon)));
  }
  return *endpoint;
}

std::optional<Endpoint> Endpoint::from_sockaddr(const sockaddr_storage& address) noexcept {
  Endpoint endpoint;
  if (address.ss_family == AF_INET) {
    sockaddr_in v4;
    std::memcpy(&v4, &address, sizeof v4);
    std::memcpy(endpoint.bytes_.data() + 12, &v4.sin_addr, 4);
    endpoint.port_ = ntohs(v4.sin_port);
    return endpoint;
  }
  if (address.ss_family == AF_INET6) {
    sockaddr_in6 v6;
    std::memcpy(&v6, &address, sizeof v6);
    std::memcpy(endpoint.bytes_.data(), &v6.sin6_addr, 16);
    endpoint.port_ = ntohs(v6.sin6_port);
    endpoint.scope_id_ = endpoint.is_v4() ? 0 : v6.sin6_scope_id;
    return endpoint;
  }
  return std::nullopt;
}

socklen_t Endpoint::to_sockaddr(sockaddr_storage& out) const noexcept {
  std::memset(&out, 0, sizeof out);
  if (is_v4()) {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port_);
    std::memcpy(&v4.sin_addr, bytes_.data() + 12, 4);
    std::memcpy(&out, &v4, sizeof v4);
    return sizeof v4;
  }
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port_);
  v6.sin6_scope_id = scope_id_;
  std::memcpy(&v6.sin6_addr, bytes_.data(), 16);
  std::memcpy(&out, &v6, sizeof v6);
  return sizeof v6;
}

std::string Endpoint::address_text() const {
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(family(), bytes_.data() + (is_v4() ? 12 : 0), text.data(), text.size());
  return text.data();
}

std::string_view Endpoint::write_text(std::array<char, kTextBytesMax>& out) const noexcept {
  char* end = out.data();
  if (is_v4()) {
    ::inet_ntop(AF_INET, bytes_.data() + 12, end, INET_ADDRSTRLEN);
    end += std::strlen(end);
  } else {
    *end++ = '[';
    ::inet_ntop(AF_INET6, bytes_.data(), end, INET6_ADDRSTRLEN);
    end += std::strlen(end);
    *end++ = ']';
  }
  *end++ = ':';
  end = std::to_chars(end, out.data() + out.size(), port_).ptr;
  return {out.data(), static_cast<std::size_t>(end - out.data())};
}

}  // namespace telltale::net
