// SPDX-License-Identifier: Apache-2.0
#pragma once
// An IP address and a port. An IPv4 address and its v4-mapped IPv6 form are the same value and print as IPv4, so
// a client is the same client whichever socket it came through. Trivially copyable, so it can be logged as it is.
//
// **Thread safety:** immutable.
// **Source:** RFC 4291 section 2.5.5.2 (v4-mapped), RFC 5952 (text).

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/core.h>
#include <sys/socket.h>
#include <tl/expected.hpp>

namespace telltale::net {

class Endpoint {
 public:
  // "0.0.0.0:0"
  Endpoint() noexcept;

  // "192.0.2.1:80" or "[2001:db8::1]:80". Errors: a sentence that says what was expected.
  [[nodiscard]] static tl::expected<Endpoint, std::string> parse(std::string_view text);
  // A literal address, IPv6 with or without brackets. Empty for anything else, names included.
  [[nodiscard]] static std::optional<Endpoint> from_literal(std::string_view address, std::uint16_t port) noexcept;
  // Empty for other families than AF_INET and AF_INET6.
  [[nodiscard]] static std::optional<Endpoint> from_sockaddr(const sockaddr_storage& address) noexcept;

  // Fills `out`, returns its length. An IPv4 address gives an AF_INET one.
  socklen_t to_sockaddr(sockaddr_storage& out) const noexcept;

  // AF_INET or AF_INET6.
  [[nodiscard]] int family() const noexcept { return is_v4() ? AF_INET : AF_INET6; }
  [[nodiscard]] bool is_v4() const noexcept;
  [[nodiscard]] bool is_any() const noexcept;  // 0.0.0.0 or ::
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  [[nodiscard]] Endpoint with_port(std::uint16_t port) const noexcept;
  // The IPv6 form, network order; IPv4 as ::ffff:a.b.c.d. What the diag client filter compares.
  [[nodiscard]] const std::array<std::uint8_t, 16>& address_bytes() const noexcept { return bytes_; }

  // The address alone, without brackets.
  [[nodiscard]] std::string address_text() const;

  // Longest text form, with brackets, port and terminating zero.
  static constexpr std::size_t kTextBytesMax = 64;
  // Writes "address:port" as parse() reads it; returns a view into `out`.
  std::string_view write_text(std::array<char, kTextBytesMax>& out) const noexcept;

  friend bool operator==(const Endpoint&, const Endpoint&) = default;

 private:
  std::array<std::uint8_t, 16> bytes_;
  std::uint32_t scope_id_ = 0;  // of link-local IPv6 addresses
  std::uint16_t port_ = 0;
};

}  // namespace telltale::net

// "{}" only: no width or alignment, so that no more of fmt is needed here.
template <>
struct fmt::formatter<telltale::net::Endpoint> {
  constexpr auto parse(fmt::format_parse_context& context) { return context.begin(); }
  template <class Context>
  auto format(const telltale::net::Endpoint& endpoint, Context& context) const {
    std::array<char, telltale::net::Endpoint::kTextBytesMax> buffer;
    const std::string_view text = endpoint.write_text(buffer);
    return std::copy(text.begin(), text.end(), context.out());
  }
};

template <>
struct std::hash<telltale::net::Endpoint> {
  std::size_t operator()(const telltale::net::Endpoint& endpoint) const noexcept {
    const auto& bytes = endpoint.address_bytes();
    return std::hash<std::string_view>{}({reinterpret_cast<const char*>(bytes.data()), bytes.size()}) * 31 +
           endpoint.port();
  }
};
