// SPDX-License-Identifier: Apache-2.0
#include "http2/frame_text.h"

#include <array>

#include <fmt/format.h>

namespace telltale::http2 {
namespace {

constexpr std::array<std::string_view, 10> kNames{"DATA",          "HEADERS",      "PRIORITY", "RST_STREAM",
                                                  "SETTINGS",      "PUSH_PROMISE", "PING",     "GOAWAY",
                                                  "WINDOW_UPDATE", "CONTINUATION"};

}  // namespace

std::string_view frame_name(std::uint8_t type) noexcept { return type < kNames.size() ? kNames[type] : "unknown"; }

std::string_view flag_name(std::uint8_t type, std::uint8_t bit) noexcept {
  const bool block = type == NGHTTP2_HEADERS || type == NGHTTP2_PUSH_PROMISE;
  switch (bit) {
    case 0x01:
      if (type == NGHTTP2_SETTINGS || type == NGHTTP2_PING) return "ACK";
      return type == NGHTTP2_DATA || type == NGHTTP2_HEADERS ? "END_STREAM" : "";
    case 0x04:
      return block || type == NGHTTP2_CONTINUATION ? "END_HEADERS" : "";
    case 0x08:
      return block || type == NGHTTP2_DATA ? "PADDED" : "";
    case 0x20:
      return type == NGHTTP2_HEADERS ? "PRIORITY" : "";
    default:
      return "";
  }
}

}  // namespace telltale::http2

fmt::appender fmt::formatter<telltale::http2::FramePrinter>::format(const telltale::http2::FramePrinter& printer,
                                                                    fmt::format_context& context) const {
  const nghttp2_frame_hd& hd = printer.hd;
  auto out = fmt::format_to(context.out(), "{} on {}, flags {:02x}", telltale::http2::frame_name(hd.type), hd.stream_id,
                            hd.flags);
  for (unsigned bit = 1; bit != 0x100; bit <<= 1) {
    if ((hd.flags & bit) == 0) continue;
    const std::string_view name = telltale::http2::flag_name(hd.type, static_cast<std::uint8_t>(bit));
    if (!name.empty()) out = fmt::format_to(out, " {}", name);
  }
  return fmt::format_to(out, ", {} bytes", hd.length);
}
