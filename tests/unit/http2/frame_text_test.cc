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
  CHECK(fmt::format("{}", print_frame({7, 1, 0xfa, 0xff, 0})) == "unknown on 1, flags ff, 7 bytes");
  CHECK(fmt::format("{}", print_frame({8, 0, NGHTTP2_PING, 0x40, 0})) == "PING on 0, flags 40, 8 bytes");
}
