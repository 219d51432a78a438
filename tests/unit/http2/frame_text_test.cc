// SPDX-License-Identifier: Apache-2.0
#include "http2/frame_text.h"

#include <catch2/catch.hpp>

#include <fmt/format.h>

using namespace telltale::http2;

TEST_CASE("print_frame: type, stream, flags with their names, and length", "[http2][print]") {
  CHECK(fmt::format("{}", print_frame({35, 3, NGHTTP2_HEADERS, 0x05, 0})) ==
        "HEADERS on 3, flags 05 END_STREAM END_HEADERS, 35 bytes");
  CHECK(fmt::format("{}", print_frame({0, 0, NGHTTP2_SETTINGS, 0x01, 0})) == "SETTINGS on 0, flags 01 ACK, 0 bytes");
  CHECK(fmt::format("{}", print_frame({5, 1, NGHTTP2_DATA, 0x09, 0})) ==
        "DATA on 1, flags 09 END_STREAM PADDED, 5 bytes");
  CHECK(fmt::format("{}", print_frame({4, 1, NGHTTP2_WINDOW_UPDATE, 0, 0})) == "WINDOW_UPDATE on 1, flags 00, 4 bytes");
}

TEST_CASE("print_frame: unknown types and flags are shown as numbers only", "[http2][print]") {
  CHECK(fmt::format("{}", print_frame({7, 1, 0xfa, 0xff, 0})) == "type fa on 1, flags ff, 7 bytes");
  CHECK(fmt::format("{}", print_frame({8, 0, NGHTTP2_PING, 0x40, 0})) == "PING on 0, flags 40, 8 bytes");
}

TEST_CASE("print_carried: increments, errors and settings are shown, and nothing of other frames", "[http2][print]") {
  nghttp2_frame frame{};
  const auto shown = [&frame](std::uint8_t type) {
    frame.hd.type = type;
    CHECK(carries(frame) == !fmt::format("{}", print_carried(frame)).empty());
    return fmt::format("{}", print_carried(frame));
  };
  CHECK(shown(NGHTTP2_DATA).empty());
  CHECK(shown(NGHTTP2_PING).empty());
  frame.window_update.window_size_increment = 70000;
  CHECK(shown(NGHTTP2_WINDOW_UPDATE) == "increment 70000");
  frame.rst_stream.error_code = NGHTTP2_CANCEL;
  CHECK(shown(NGHTTP2_RST_STREAM) == "CANCEL");
  frame.goaway = {frame.hd, 5, NGHTTP2_ENHANCE_YOUR_CALM, nullptr, 0, 0};
  CHECK(shown(NGHTTP2_GOAWAY) == "ENHANCE_YOUR_CALM, the last stream is 5");
  nghttp2_settings_entry entries[] = {{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0}, {7, 1}, {0xfafa, 2}};
  frame.settings = {frame.hd, 3, entries};
  CHECK(shown(NGHTTP2_SETTINGS) == "INITIAL_WINDOW_SIZE 0, setting 7 1, setting fafa 2");
  frame.settings.niv = 0;
  CHECK(shown(NGHTTP2_SETTINGS).empty());
}
