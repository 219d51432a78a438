// SPDX-License-Identifier: Apache-2.0
#include "control/ttctl/printable.h"

#include <algorithm>

#include <fmt/format.h>

#include "control/utf8.h"

namespace telltale::control {

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    std::size_t n = utf8_sequence_bytes(text);
    auto first = static_cast<unsigned char>(text[0]);
    bool c1 = n == 2 && first == 0xC2 && static_cast<unsigned char>(text[1]) < 0xA0;
    if (first == '\n') {
      out += "\\n";
    } else if (first == '\t') {
      out += "\\t";
    } else if (first == '\r') {
      out += "\\r";
    } else if (n == 0 || first < ' ' || first == 0x7F) {
      out += fmt::format("\\x{:02x}", first);
      n = 1;
    } else if (c1) {
      out += fmt::format("\\x{:02x}\\x{:02x}", first, static_cast<unsigned char>(text[1]));
    } else {
      out += text.substr(0, n);
    }
    text.remove_prefix(n);
  }
  return out;
}

std::size_t printable_columns(std::string_view text) {
  std::string shown = printable(text);
  return static_cast<std::size_t>(
      std::count_if(shown.begin(), shown.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string caret_lines(std::string_view text, std::size_t offset) {
  std::size_t column = printable_columns(text.substr(0, std::min(offset, text.size())));
  return fmt::format("  {}\n  {:>{}}\n", printable(text), '^', column + 1);
}

}  // namespace telltale::control
