// SPDX-License-Identifier: Apache-2.0
#pragma once
// Frames as debug lines show them: "HEADERS on 3, flags 05 END_STREAM END_HEADERS, 35 bytes"; and what the small ones
// carry: "increment 70000".
//
// **Thread safety:** immutable.
// **Source:** RFC 9113 section 6.

#include <cstdint>
#include <string_view>

#include <fmt/core.h>

#include <nghttp2/nghttp2.h>

namespace telltale::http2 {

// "HEADERS"; "unknown" for a type that RFC 9113 does not have. Lives for ever.
std::string_view frame_name(std::uint8_t type) noexcept;
// The name of a flag's bit in frames of that type; empty for none. Lives for ever.
std::string_view flag_name(std::uint8_t type, std::uint8_t bit) noexcept;

struct FramePrinter {
  nghttp2_frame_hd hd;
};
inline FramePrinter print_frame(const nghttp2_frame_hd& hd) { return {hd}; }

// What a WINDOW_UPDATE, RST_STREAM, GOAWAY or SETTINGS frame carries; nothing of other frames.
struct CarriedPrinter {
  const nghttp2_frame* frame;
};
inline CarriedPrinter print_carried(const nghttp2_frame& frame) { return {&frame}; }
bool carries(const nghttp2_frame& frame) noexcept;  // something that print_carried() shows

}  // namespace telltale::http2

template <>
struct fmt::formatter<telltale::http2::CarriedPrinter> {
  constexpr auto parse(fmt::format_parse_context& context) { return context.begin(); }
  fmt::appender format(const telltale::http2::CarriedPrinter& printer, fmt::format_context& context) const;
};

template <>
struct fmt::formatter<telltale::http2::FramePrinter> {
  constexpr auto parse(fmt::format_parse_context& context) { return context.begin(); }
  fmt::appender format(const telltale::http2::FramePrinter& printer, fmt::format_context& context) const;
};
