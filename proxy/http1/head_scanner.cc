// SPDX-License-Identifier: Apache-2.0
//
// memchr from line feed to line feed, because that is the fastest scan there is; every line end costs a few
// compares. A line feed without a carriage return before it is refused here, so the parser behind it never has
// to decide whether it ends a line. Linear over any split: scanned_ never moves back.
#include "http1/head_scanner.h"

#include <cstring>

namespace telltale::http1 {

HeadScanner::Found HeadScanner::scan(std::string_view buffer, bool skip_empty_lines) {
  while (true) {
    // The line that begins at line_ has no LF before scanned_. Its first byte says whether it is folded.
    if (line_ < buffer.size() && lines_ > 0 && (buffer[line_] == ' ' || buffer[line_] == '\t')) return Found::kFold;
    // One byte beyond the limit is looked at, no more.
    const std::size_t room = start_ + limits_.bytes_max;
    const std::size_t size = buffer.size() < room ? buffer.size() : room;
    const void* const found = scanned_ < size ? std::memchr(buffer.data() + scanned_, '\n', size - scanned_) : nullptr;
    if (found == nullptr) {
      if (scanned_ < size) scanned_ = size;
      return buffer.size() >= room ? Found::kTooManyBytes : Found::kNotYet;
    }
    const auto lf = static_cast<std::size_t>(static_cast<const char*>(found) - buffer.data());
    if (lf == line_ || buffer[lf - 1] != '\r') return Found::kBareLf;
    const bool empty = lf == line_ + 1;
    if (empty && lines_ == 0) {
      if (!skip_empty_lines || ++empty_lines_ > kEmptyLinesMax) return Found::kEmptyLines;
      start_ = line_ = scanned_ = lf + 1;
      continue;
    }
    scanned_ = lf + 1;
    if (empty) return Found::kHead;
    line_ = lf + 1;
    if (++lines_ > limits_.fields_max + 1) return Found::kTooManyFields;
  }
}

}  // namespace telltale::http1
