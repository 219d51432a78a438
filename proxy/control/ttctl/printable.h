// SPDX-License-Identifier: Apache-2.0
#pragma once
// Text for a terminal: what the daemon or the command line hands in must not move the cursor, change
// colours or begin a new line.
//
// **Thread safety:** thread-safe.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace telltale::control {

// Control characters (C0, DEL, C1) and bytes that are not UTF-8 become \n, \t, \r or \xNN.
[[nodiscard]] std::string printable(std::string_view text);

// Characters of printable(text). Wide and combining characters count as one.
[[nodiscard]] std::size_t printable_columns(std::string_view text);

// Two lines: the text, and a caret under its byte `offset` (behind it, if it is not that long).
[[nodiscard]] std::string caret_lines(std::string_view text, std::size_t offset);

}  // namespace telltale::control
