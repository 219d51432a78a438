// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <string>

#include "lib/diag/src/text_buffer.h"

using telltale::diag::TextBuffer;

TEST_CASE("TextBuffer: keeps what is in it when it grows, cuts and clears", "[diag][text_buffer]") {
  TextBuffer out;
  CHECK(out.view().empty());
  std::string expected;
  for (int i = 0; i < 3000; ++i) {
    std::string part = std::to_string(i);
    if (i % 3 == 0) {
      out += part;
    } else if (i % 3 == 1) {
      for (char c : part) out += c;
    } else {
      char* at = out.room(part.size() + 40);
      out.end_at(at + part.copy(at, part.size()));
    }
    expected += part;
    REQUIRE(out.view() == expected);
  }
  CHECK(out.from(10) == std::string_view(expected).substr(10));
  out.append({}).append("x", 1);
  CHECK(out.size() == expected.size() + 1);
  out.cut(3);
  CHECK(out.view() == expected.substr(0, 3));
  out.clear();
  CHECK(out.size() == 0);
  out += std::string(100'000, 'l');
  CHECK(out.view() == std::string(100'000, 'l'));
}
