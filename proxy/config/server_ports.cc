// SPDX-License-Identifier: Apache-2.0
#include "config/server_ports.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "config/problem.h"

namespace telltale::config {
namespace {

using Failure = tl::unexpected<std::string>;

// What Traffic Server's syntax has and this one has not, so that the message can tell it from a slip.
constexpr std::array<std::string_view, 17> kNotOffered{
    "ssl",    "proto",      "tr-in", "tr-out", "tr-full", "tr-pass", "blind", "compressed", "quic",
    "ip-out", "ip-resolve", "fd",    "pp",     "pp-clnt", "mptcp",   "stats", "allow-plain"};

std::optional<std::string> canonical(int family, const std::string& address) {
  unsigned char bytes[sizeof(in6_addr)];
  char text[INET6_ADDRSTRLEN];
  if (inet_pton(family, address.c_str(), bytes) != 1) return std::nullopt;
  if (inet_ntop(family, bytes, text, sizeof text) == nullptr) return std::nullopt;
  return std::string(text);
}

// Takes the text up to the next colon outside brackets.
std::string_view take_part(std::string_view& rest) {
  bool in_brackets = false;
  std::size_t i = 0;
  for (; i < rest.size(); ++i) {
    if (rest[i] == '[') in_brackets = true;
    if (rest[i] == ']') in_brackets = false;
    if (rest[i] == ':' && !in_brackets) break;
  }
  const std::string_view part = rest.substr(0, i);
  rest.remove_prefix(std::min(rest.size(), i + 1));
  return part;
}

tl::expected<ServerPort, std::string> parse_one(std::string_view text) {
  const std::string_view whole = text;
  if (whole.ends_with(':')) return Failure(quote(whole) + " ends with a colon");
  ServerPort port{};

  const std::string_view number = take_part(text);
  const bool digits = !number.empty() && number.find_first_not_of("0123456789") == std::string_view::npos;
  unsigned value = 0;
  const auto end = number.data() + number.size();
  const auto result = std::from_chars(number.data(), end, value);
  if (!digits || number.front() == '0' || result.ec != std::errc() || value > 65535)
    return Failure(quote(number) + " is not a port, 1 to 65535");
  port.port = static_cast<std::uint16_t>(value);

  std::optional<bool> family;
  bool has_address = false;
  while (!text.empty()) {
    const std::string_view option = take_part(text);
    const std::string_view key = option.substr(0, option.find('='));
    if (option == "ipv4" || option == "ipv6") {
      if (family) return Failure(quote(whole) + " names an address family twice");
      family = option == "ipv6";
    } else if (key == "ip-in" && key.size() < option.size()) {
      if (has_address) return Failure(quote(whole) + " has ip-in twice");
      has_address = true;
      std::string address(option.substr(key.size() + 1));
      port.ipv6 = address.size() >= 2 && address.front() == '[' && address.back() == ']';
      if (port.ipv6) address = address.substr(1, address.size() - 2);
      const auto shortest = canonical(port.ipv6 ? AF_INET6 : AF_INET, address);
      if (!shortest)
        return Failure(quote(option) + " has no numeric address (an IPv6 address stands in brackets)");
      port.address = *shortest;
    } else if (std::find(kNotOffered.begin(), kNotOffered.end(), key) != kNotOffered.end()) {
      return Failure(quote(key) + " is not offered yet");
    } else {
      return Failure(quote(option) + " is not an option of a port");
    }
  }
  if (has_address && family && *family != port.ipv6)
    return Failure(quote(whole) + " has an address of the other family");
  if (!has_address) {
    port.ipv6 = family.value_or(false);
    port.address = port.ipv6 ? "::" : "0.0.0.0";
  }
  return port;
}

}  // namespace

tl::expected<std::vector<ServerPort>, std::string> parse_server_ports(std::string_view text) {
  std::vector<ServerPort> ports;
  while (true) {
    text.remove_prefix(std::min(text.size(), text.find_first_not_of(' ')));
    if (text.empty()) break;
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(word.size());
    auto port = parse_one(word);
    if (!port) return Failure(std::move(port.error()));
    if (std::find(ports.begin(), ports.end(), *port) != ports.end())
      return Failure(fmt::format("{} port {} is there twice", port->address, port->port));
    if (ports.size() == kServerPortsMax) return Failure(fmt::format("more than {} ports", kServerPortsMax));
    ports.push_back(std::move(*port));
  }
  if (ports.empty()) return Failure("no port");
  return ports;
}

}  // namespace telltale::config
