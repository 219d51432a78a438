// SPDX-License-Identifier: Apache-2.0
#pragma once
// The text of one argument as "{}" has it, escaped: what fmt prints for it, without fmt where that is simple.
//
// **Thread safety:** immutable.

#include "record_reader.h"
#include "text_buffer.h"

namespace telltale::diag {

inline constexpr std::size_t kPlainArgumentBytesMax = 32;

// Whether its text is of printable ASCII, and short, whatever its value.
constexpr bool is_plain(Kind kind) noexcept { return kind != Kind::kString && kind != Kind::kChar && kind != Kind::kLines; }
// Writes it at `at`, where there is room for kPlainArgumentBytesMax, and returns its end. REQUIRES: is_plain(kind).
char* put_plain_argument(char* at, const Argument& argument) noexcept;

void append_argument(TextBuffer& out, const Argument& argument);

}  // namespace telltale::diag
