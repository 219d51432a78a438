// SPDX-License-Identifier: Apache-2.0
#include "remap/rule_url.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "config/problem.h"

namespace telltale::remap {
namespace {

using config::quote;
constexpr std::string_view kPathPunctuation = "/-._~!$&'()*+,;=:@";
constexpr std::string_view kForm = "http://HOST[:PORT]/PATH";

tl::unexpected<UrlFault> fault(std::size_t offset, std::string what, std::string_view expected = {}) {
  return tl::unexpected(UrlFault{offset, std::move(what), std::string(expected)});
}

bool is_alnum(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

// RFC 3986 pchar and the slash; a percent sign needs two hex digits. The offset of the first byte that
// does not fit, or npos.
std::size_t bad_path_byte(std::string_view path) {
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (path[i] == '%') {
      if (i + 2 >= path.size() || !is_hex(path[i + 1]) || !is_hex(path[i + 2])) return i;
    } else if (!is_alnum(path[i]) && kPathPunctuation.find(path[i]) == std::string_view::npos) {
      return i;
    }
  }
  return std::string_view::npos;
}

tl::expected<std::string, UrlFault> checked_path(std::string_view path, std::size_t offset) {
  const std::size_t extra = path.find_first_of("?#");
  if (extra != std::string_view::npos)
    return fault(offset + extra,
                 path[extra] == '?' ? "a query in a rule's URL" : "a fragment in a rule's URL", "a path");
  if (const std::size_t bad = bad_path_byte(path); bad != std::string_view::npos)
    return fault(offset + bad, "a byte that a path cannot have", "bytes outside RFC 3986 percent-encoded");
  return path.empty() ? std::string("/") : std::string(path);
}

}  // namespace

std::string_view normal_host(std::string_view host, char* buffer) {
  if (host.size() > kRuleHostBytesMax) return {};
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  std::transform(host.begin(), host.end(), buffer, lower);
  if (host.find(':') == std::string_view::npos) return {buffer, host.size()};
  char text[INET6_ADDRSTRLEN];
  unsigned char bytes[sizeof(in6_addr)];
  if (host.size() >= sizeof text || host.find('\0') != std::string_view::npos) return {};
  std::memcpy(text, buffer, host.size());
  text[host.size()] = '\0';
  if (inet_pton(AF_INET6, text, bytes) != 1) return {};
  if (inet_ntop(AF_INET6, bytes, buffer, INET6_ADDRSTRLEN) == nullptr) return {};
  return buffer;
}

tl::expected<RuleUrl, UrlFault> parse_rule_url(std::string_view text) {
  // Before anything is quoted: whatever stands in front of an @ may be a name and a password.
  const std::size_t scheme_end = text.find("://");
  if (scheme_end == std::string_view::npos) return fault(0, "not a URL", kForm);
  const std::size_t authority_at = scheme_end + 3;
  const std::string_view after_scheme = text.substr(authority_at);
  const std::string_view authority = after_scheme.substr(0, after_scheme.find_first_of("/?#"));
  if (text.substr(0, authority_at + authority.size()).find('@') != std::string_view::npos)
    return fault(authority_at, "user-info in a rule's URL", kForm);

  // An @ further on may be the end of a name and a password with a slash in it.
  const bool secret = text.find('@') != std::string_view::npos;
  const auto shown = [&](std::string_view part) { return secret ? std::string("this") : quote(part); };

  RuleUrl url;
  url.scheme = text.substr(0, scheme_end);
  std::transform(url.scheme.begin(), url.scheme.end(), url.scheme.begin(), lower);
  if (url.scheme == "https") return fault(0, "https is not offered yet", kForm);
  if (url.scheme != "http")
    return fault(0, fmt::format("the scheme {} is not offered", shown(url.scheme)), kForm);

  std::string_view host = authority;
  std::string_view port;
  bool has_port = false;
  const std::size_t bracket = authority.rfind(']');
  const std::size_t colon = authority.find(':', bracket == std::string_view::npos ? 0 : bracket);
  if (colon != std::string_view::npos) {
    host = authority.substr(0, colon);
    port = authority.substr(colon + 1);
    has_port = true;
  }
  if (host.empty()) return fault(authority_at, "no host", kForm);

  const bool bracketed = host.front() == '[';
  const std::size_t bad =
      std::find_if(host.begin(), host.end(),
                   [](char c) { return !is_alnum(c) && c != '-' && c != '.' && c != '_'; }) -
      host.begin();
  if (!bracketed && bad < host.size())
    return fault(authority_at + bad, fmt::format("{} is not a host", shown(host)),
                 "a name, an IPv4 address or an IPv6 address in brackets");
  char buffer[kRuleHostBytesMax];
  url.host = normal_host(host, buffer);
  const bool ipv6 = url.host.find(':') != std::string::npos;
  if (url.host.empty() || bracketed != ipv6)
    return fault(authority_at, fmt::format("{} is not a host", shown(host)),
                 "a name, an IPv4 address or an IPv6 address in brackets");

  url.port = 80;
  if (has_port) {
    unsigned value = 0;
    const bool digits = !port.empty() && port.find_first_not_of("0123456789") == std::string_view::npos;
    const auto result = std::from_chars(port.data(), port.data() + port.size(), value);
    if (!digits || result.ec != std::errc() || value == 0 || value > 65535)
      return fault(authority_at + colon + 1, fmt::format("{} is not a port", shown(port)), "1 to 65535");
    url.port = static_cast<std::uint16_t>(value);
  }
  auto path = checked_path(after_scheme.substr(authority.size()), authority_at + authority.size());
  if (!path) return tl::unexpected(std::move(path.error()));
  url.path = std::move(*path);
  return url;
}

tl::expected<RuleUrl, UrlFault> parse_rule_path(std::string_view text) {
  auto path = checked_path(text, 0);
  if (!path) return tl::unexpected(std::move(path.error()));
  return RuleUrl{{}, {}, 0, std::move(*path)};
}

}  // namespace telltale::remap
