// SPDX-License-Identifier: Apache-2.0
// Escaping: every byte, every kind of UTF-8, and the way back.
#include <catch2/catch.hpp>

#include <algorithm>
#include <random>
#include <string>

#include <fmt/format.h>

#include "lib/diag/src/escape.h"
#include "tests/unit/diag/rounds.h"

using telltale::diag::append_escaped;
using telltale::diag::is_plain;

namespace {

std::string escaped(std::string_view text) {
  std::string out;
  append_escaped(out, text);
  telltale::diag::TextBuffer buffer;
  append_escaped(buffer, text);
  CHECK(buffer.view() == out);
  CHECK(is_plain(text) == (out == text && std::all_of(text.begin(), text.end(), [](char c) { return c > 0; })));
  return out;
}

// The way back, as a reader of a log would write it.
std::string unescaped(std::string_view line) {
  std::string out;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\\') {
      out += line[i];
      continue;
    }
    switch (line[++i]) {
      case 'n': out += '\n'; break;
      case 'r': out += '\r'; break;
      case 't': out += '\t'; break;
      case '\\': out += '\\'; break;
      case 'x': out += static_cast<char>(std::stoi(std::string(line.substr(i + 1, 2)), nullptr, 16)); i += 2; break;
      default: FAIL("an escape nobody defined");
    }
  }
  return out;
}

}  // namespace

TEST_CASE("escape: of the 256 bytes only printable ASCII passes, alone and between others", "[diag][escape]") {
  for (int b = 0; b < 256; ++b) {
    std::string byte(1, static_cast<char>(b));
    std::string expected = b == '\n'   ? "\\n"
                           : b == '\r' ? "\\r"
                           : b == '\t' ? "\\t"
                           : b == '\\' ? "\\\\"
                           : b >= 0x20 && b < 0x7F ? byte
                                                   : fmt::format("\\x{:02x}", b);
    CHECK(escaped(byte) == expected);
    // At every place of an eight-byte word and behind it.
    for (std::size_t before = 0; before < 18; ++before) {
      std::string a(before, 'a'), z(9, 'z');
      CHECK(escaped(a + byte + z) == a + expected + z);
    }
  }
}

TEST_CASE("escape: valid UTF-8 passes, anything else becomes its bytes", "[diag][escape]") {
  struct Case {
    std::string_view text, line;
  };
  using namespace std::string_view_literals;
  for (const Case& c : {
           Case{"gr\xc3\xbc\xc3\x9f"sv, "gr\xc3\xbc\xc3\x9f"sv},                // ü ß
           Case{"\xe2\x82\xac"sv, "\xe2\x82\xac"sv},                            // euro
           Case{"\xf0\x9f\x98\x80"sv, "\xf0\x9f\x98\x80"sv},                    // U+1F600
           Case{"\xc2\xa0"sv, "\xc2\xa0"sv},                                    // U+00A0, first behind C1
           Case{"\xf4\x8f\xbf\xbf"sv, "\xf4\x8f\xbf\xbf"sv},                    // U+10FFFF
           Case{"\xc2\x80"sv, "\\xc2\\x80"sv},                                  // C1
           Case{"\xc2\x9b"sv, "\\xc2\\x9b"sv},                                  // C1: CSI
           Case{"\xc2\x9f"sv, "\\xc2\\x9f"sv},                                  // C1, last
           Case{"\x9b" "31m"sv, "\\x9b" "31m"sv},                               // raw C1
           Case{"\xe2\x80\xa8"sv, "\\xe2\\x80\\xa8"sv},                         // line separator
           Case{"\xe2\x80\xae"sv, "\\xe2\\x80\\xae"sv},                         // right-to-left override
           Case{"\xe2\x81\xa6"sv, "\\xe2\\x81\\xa6"sv},                         // isolate
           Case{"\xe2\x80\xa7\xe2\x80\xaf"sv, "\xe2\x80\xa7\xe2\x80\xaf"sv},    // the neighbours of both ranges
           Case{"\xc0\xaf"sv, "\\xc0\\xaf"sv},                                  // overlong
           Case{"\xe0\x80\x8a"sv, "\\xe0\\x80\\x8a"sv},                         // overlong LF
           Case{"\xf0\x80\x80\x8a"sv, "\\xf0\\x80\\x80\\x8a"sv},                // overlong LF
           Case{"\xed\xa0\x80"sv, "\\xed\\xa0\\x80"sv},                         // surrogate
           Case{"\xf4\x90\x80\x80"sv, "\\xf4\\x90\\x80\\x80"sv},                // above U+10FFFF
           Case{"\xf5\x80\x80\x80"sv, "\\xf5\\x80\\x80\\x80"sv},
           Case{"\xc3"sv, "\\xc3"sv},                                           // torn at the end
           Case{"\xe2\x82"sv, "\\xe2\\x82"sv},
           Case{"\xc3z"sv, "\\xc3z"sv},                                         // torn by ASCII
           Case{"\xe2\x82\xc3\xbc"sv, "\\xe2\\x82\xc3\xbc"sv},                  // torn by another
           Case{"\xff\xfe"sv, "\\xff\\xfe"sv},
           Case{"a\0b"sv, "a\\x00b"sv},
           Case{"\x1b[31mred"sv, "\\x1b[31mred"sv},
           Case{"\\n is not \n"sv, "\\\\n is not \\n"sv},
       }) {
    CHECK(escaped(c.text) == c.line);
    CHECK(unescaped(c.line) == c.text);
  }
}

TEST_CASE("escape: no text ends, forges or colours a line, and every line leads back to its text", "[diag][escape]") {
  std::mt19937 random(7);
  for (int round = 0; round < telltale::diag::rounds(20'000); ++round) {
    std::string text(random() % 40, '\0');
    for (char& c : text) {
      constexpr std::string_view kLikely = "ab\\n\n\r\x1b\xc2\x9b\xe2\x80\xa8\xf0";
      c = random() % 2 != 0 ? kLikely[random() % kLikely.size()] : static_cast<char>(random());
    }
    std::string line = escaped(text);
    REQUIRE(unescaped(line) == text);
    for (char c : line) REQUIRE((static_cast<unsigned char>(c) >= 0x20 && c != 0x7F));
    // What is a line stays one when it is part of another line.
    REQUIRE(escaped(line + "|" + line) == escaped(line) + "|" + escaped(line));
  }
}
