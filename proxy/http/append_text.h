// SPDX-License-Identifier: Apache-2.0
#pragma once

// Appends text to fmt's output in one piece. An appender is an iterator that takes one byte at a time;
// a compiled format is fmt's public way to its bulk copy. Used by the sources of the printers only.
//
// **Thread safety:** thread-compatible.

#include <fmt/compile.h>

#include <string_view>

namespace telltale::http {

inline fmt::appender append_text(fmt::appender out, std::string_view text) {
  return fmt::format_to(out, FMT_COMPILE("{}"), fmt::string_view(text.data(), text.size()));
}

}  // namespace telltale::http
