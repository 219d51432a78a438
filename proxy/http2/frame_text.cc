// SPDX-License-Identifier: Apache-2.0
#include "http2/frame_text.h"

#include <array>

#include <fmt/format.h>

namespace telltale::http2 {
namespace {

constexpr std::array<std::string_view, 10> kNames{"DATA",          "HEADERS",      "PRIORITY", "RST_STREAM",
                                                  "SETTINGS",      "PUSH_PROMISE", "PING",     "GOAWAY",
                                                  "WINDOW_UPDATE", "CONTINUATION"};

// By identifier; empty: RFC 9113 and RFC 9218 have none.
constexpr std::array<std::string_view, 10> kSettings{
    "",  "HEADER_TABLE_SIZE",       "ENABLE_PUSH", "MAX_CONCURRENT_STREAMS", "INITIAL_WINDOW_SIZE", "MAX_FRAME_SIZE",
    "MAX_HEADER_LIST_SIZE", "", "ENABLE_CONNECT_PROTOCOL", "NO_RFC7540_PRIORITIES"};

fmt::appender append_settings(fmt::appender out, const nghttp2_settings& settings) {
  for (std::size_t i = 0; i < settings.niv; ++i) {
    const nghttp2_settings_entry& entry = settings.iv[i];
    const auto id = static_cast<std::size_t>(entry.settings_id);
    if (i != 0) out = fmt::format_to(out, ", ");
    if (id < kSettings.size() && !kSettings[id].empty()) {
      out = fmt::format_to(out, "{} {}", kSettings[id], entry.value);
    } else {
      out = fmt::format_to(out, "setting {:x} {}", id, entry.value);
    }
  }
  return out;
}

}  // namespace

std::string_view frame_name(std::uint8_t type) noexcept { return type < kNames.size() ? kNames[type] : "unknown"; }

bool carries(const nghttp2_frame& frame) noexcept {
  switch (frame.hd.type) {
    case NGHTTP2_WINDOW_UPDATE:
    case NGHTTP2_RST_STREAM:
    case NGHTTP2_GOAWAY:
      return true;
    case NGHTTP2_SETTINGS:
      return frame.settings.niv != 0;
    default:
      return false;
  }
}

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
  auto out = context.out();
  if (hd.type < telltale::http2::kNames.size()) {
    out = fmt::format_to(out, "{}", telltale::http2::frame_name(hd.type));
  } else {
    out = fmt::format_to(out, "type {:02x}", hd.type);
  }
  out = fmt::format_to(out, " on {}, flags {:02x}", hd.stream_id, hd.flags);
  for (unsigned bit = 1; bit != 0x100; bit <<= 1) {
    if ((hd.flags & bit) == 0) continue;
    const std::string_view name = telltale::http2::flag_name(hd.type, static_cast<std::uint8_t>(bit));
    if (!name.empty()) out = fmt::format_to(out, " {}", name);
  }
  return fmt::format_to(out, ", {} bytes", hd.length);
}

fmt::appender fmt::formatter<telltale::http2::CarriedPrinter>::format(const telltale::http2::CarriedPrinter& printer,
                                                                      fmt::format_context& context) const {
  const nghttp2_frame& frame = *printer.frame;
  switch (frame.hd.type) {
    case NGHTTP2_WINDOW_UPDATE:
      return fmt::format_to(context.out(), "increment {}", frame.window_update.window_size_increment);
    case NGHTTP2_RST_STREAM:
      return fmt::format_to(context.out(), "{}", nghttp2_http2_strerror(frame.rst_stream.error_code));
    case NGHTTP2_GOAWAY:
      return fmt::format_to(context.out(), "{}, the last stream is {}", nghttp2_http2_strerror(frame.goaway.error_code),
                            frame.goaway.last_stream_id);
    case NGHTTP2_SETTINGS:
      return telltale::http2::append_settings(context.out(), frame.settings);
    default:
      return context.out();
  }
}
