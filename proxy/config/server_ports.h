// SPDX-License-Identifier: Apache-2.0
//
// The value of proxy.config.http.server_ports: where the proxy listens. A subset of Traffic Server's
// syntax, ports separated by spaces, each PORT[:ip-in=ADDR][:ipv4|ipv6]; an IPv6 address stands in
// brackets. What that syntax has beyond this is refused by its name. It opens no socket.
//
// **Thread safety:** immutable values.
// **Source:** the record's documentation in Apache Traffic Server.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace telltale::config {

struct ServerPort {
  std::string address;  // numeric, without brackets, in its shortest form: "127.0.0.1", "::1"
  std::uint16_t port;   // never 0
  bool ipv6;

  bool operator==(const ServerPort&) const = default;
};

inline constexpr std::size_t kServerPortsMax = 64;
inline constexpr std::string_view kServerPortsForm =
    "PORT[:ip-in=ADDRESS][:ipv4|ipv6], ports separated by spaces";

// One to kServerPortsMax ports in the order written. A port without an address listens on all IPv4
// addresses, with :ipv6 on all IPv6 addresses.
// Errors: a sentence without place or record name. The same address and port twice is one.
tl::expected<std::vector<ServerPort>, std::string> parse_server_ports(std::string_view text);

}  // namespace telltale::config
