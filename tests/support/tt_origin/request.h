// SPDX-License-Identifier: Apache-2.0
#pragma once
// A request as tt-origin's pages see it: the target taken apart, and the bytes as they came, so that a
// test can look at what a proxy really sent. Not a general HTTP message.
//
// **Thread safety:** thread-compatible.
// **Source:** RFC 9110 section 7.1, RFC 3986 section 2.1.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tt_origin {

// Names and values of a query, percent-decoded, in the order of the target; or fields of a message.
using Pairs = std::vector<std::pair<std::string, std::string>>;

// Content and raw bytes are kept up to here; what exceeds it is read and counted, not kept.
inline constexpr std::size_t kKeptBytesMax = 16 << 20;

struct Request {
  std::string method;
  std::string path;  // as sent, without the query
  Pairs query;
  bool http_1_0 = false;
  bool keep_alive = true;
  std::string content_type;
  std::string if_none_match;
  std::string raw;      // head and body as they came, chunk framing and trailer section included
  std::string content;  // the body without its framing
  std::uint64_t content_bytes = 0;
  std::uint64_t raw_bytes = 0;

  bool whole() const { return raw_bytes == raw.size(); }
  // The last value of `name` in the query.
  std::optional<std::string_view> param(std::string_view name) const;
};

// The bytes that `text` encodes. Errors: nullopt for a '%' without two hex digits.
std::optional<std::string> percent_decode(std::string_view text);

// Fills path and query. A target in absolute form loses its scheme and authority.
// Errors: false when the query is not properly percent-encoded.
bool take_target_apart(std::string_view target, Request& request);

}  // namespace tt_origin
