// SPDX-License-Identifier: Apache-2.0
//
// The URLs of a remap rule: absolute http URLs with a host, an optional port and a path, and nothing else
// (no user-info, query or fragment). Not a general URL type, and not for what clients send.
//
// **Thread safety:** immutable values.
// **Source:** RFC 3986.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace telltale::remap {

struct RuleUrl {
  std::string scheme;  // "http"; empty in a rule that is a path only
  std::string host;    // lower case; IPv6 without brackets in its shortest form; empty as above
  std::uint16_t port;  // 80 if not written; 0 as above
  std::string path;    // begins with a slash

  bool operator==(const RuleUrl&) const = default;
};

inline constexpr std::size_t kRuleHostBytesMax = 255;

// What is wrong with a URL. Never repeats the text of the URL where it could hold a password.
struct UrlFault {
  std::size_t offset;  // of the byte in the text
  std::string what;
  std::string expected;
};

tl::expected<RuleUrl, UrlFault> parse_rule_url(std::string_view text);

// A path alone: "/docs/".
tl::expected<RuleUrl, UrlFault> parse_rule_path(std::string_view text);

// The host as rules hold it: lower case, IPv6 in its shortest form, brackets taken off. `buffer` must have
// kRuleHostBytesMax bytes; the view points into it. Empty if no rule can have such a host. Cost: none.
std::string_view normal_host(std::string_view host, char* buffer);

}  // namespace telltale::remap
