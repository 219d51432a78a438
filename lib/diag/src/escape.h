// SPDX-License-Identifier: Apache-2.0
#pragma once
// Escaping: the one place where text of unknown origin becomes part of a line.
//
// What may pass: printable ASCII but the backslash, and valid UTF-8. Everything else is written so that
// it can neither end, forge nor colour a line:
//
//   \        ->  \\          so that every escape can be told from data and undone
//   LF CR HT ->  \n \r \t
//   other bytes 00-1f, 7f, and each byte that is not part of valid UTF-8  ->  \xNN
//   U+0080-U+009F (C1 controls), U+2028, U+2029 (line ends to some readers), and the bidirectional
//   controls U+202A-U+202E, U+2066-U+2069 (reorder what a terminal shows)  ->  each of their bytes \xNN
//
// Overlong forms, surrogates and code points above U+10FFFF are not valid UTF-8.
//
// **Thread safety:** immutable.

#include <string>
#include <string_view>

#include "text_buffer.h"

namespace telltale::diag {

void append_escaped(std::string& out, std::string_view text);
void append_escaped(TextBuffer& out, std::string_view text);

// Whether the text passes as it is, because it is nothing but printable ASCII without a backslash.
bool is_plain(std::string_view text) noexcept;

}  // namespace telltale::diag
