// SPDX-License-Identifier: Apache-2.0
#pragma once

// Dumps of whole heads: the start line and every field, each on a line of its own that says in which direction the
// head goes, secrets masked as redact.h says.
//
//   client request: GET /a?token=[redacted] HTTP/1.1
//   client request: Host: example.com
//
// One record (diag::is_lines): the text sinks write its lines together, each with all that stands before a line's
// text; other sinks have it whole. `Dbg(http_hdrs_dbg, "{}", dump_request(...))`, the format nothing else.
//
// A dump holds pointers and views: use it in the expression that makes it. Cost: no allocation.
//
// **Thread safety:** thread-compatible, like what they print.
// **Source:** spec/redaction.md R1 to R7.

#include <array>
#include <cstdint>
#include <string_view>

#include <fmt/core.h>

#include <telltale/diag/argument.h>

#include "http/fields.h"
#include "http/print.h"
#include "http/request_head.h"
#include "http/response_head.h"

namespace telltale::http {

enum class Direction : std::uint8_t { kClientRequest, kOriginRequest, kOriginResponse, kClientResponse };
std::string_view direction_words(Direction direction);  // "client request"

// A head as its parts.
struct RequestDump {
  Direction direction;
  const RequestHead* head;
};
struct ResponseDump {
  Direction direction;
  std::string_view target;  // of the request, for sensitive paths
  Version version;
  std::uint16_t status;
  std::string_view reason;
  const Fields* fields;
  std::array<Field, 2> more;  // further ones; without a name: none
};
// An HTTP/1.1 head as bytes, perhaps in two pieces, which meet at a line's end.
struct WireDump {
  Direction direction;
  std::string_view target;
  std::string_view head, rest;
};

inline RequestDump dump_request(Direction direction, const RequestHead& head) { return {direction, &head}; }
inline ResponseDump dump_response(Direction direction, std::string_view target, const ResponseHead& head) {
  return {direction, target, head.version, head.status, head.reason, &head.fields, {}};
}
inline ResponseDump dump_response(Direction direction, std::string_view target, Version version, std::uint16_t status,
                                  const Fields& fields, const std::array<Field, 2>& more = {}) {
  return {direction, target, version, status, {}, &fields, more};
}
inline WireDump dump_wire(Direction direction, std::string_view target, std::string_view head, std::string_view rest = {}) {
  return {direction, target, head, rest};
}

}  // namespace telltale::http

namespace telltale::diag {
template <> inline constexpr bool is_lines<http::RequestDump> = true;
template <> inline constexpr bool is_lines<http::ResponseDump> = true;
template <> inline constexpr bool is_lines<http::WireDump> = true;
template <> inline constexpr std::size_t eager_bytes_max<http::RequestDump> = 16 * 1024;
template <> inline constexpr std::size_t eager_bytes_max<http::ResponseDump> = 16 * 1024;
template <> inline constexpr std::size_t eager_bytes_max<http::WireDump> = 16 * 1024;
}  // namespace telltale::diag

template <> struct fmt::formatter<telltale::http::RequestDump> : telltale::http::PlainFormatter<telltale::http::RequestDump> {};
template <> struct fmt::formatter<telltale::http::ResponseDump> : telltale::http::PlainFormatter<telltale::http::ResponseDump> {};
template <> struct fmt::formatter<telltale::http::WireDump> : telltale::http::PlainFormatter<telltale::http::WireDump> {};
