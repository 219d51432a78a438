// SPDX-License-Identifier: Apache-2.0
#pragma once
// SiteLine: makes the lines of one site. What they have in common, level, tag and place, is text already, and the
// format is taken apart; see split_format.h. A line is what LineWriter makes of the same record, to the byte.
//
// **Thread safety:** immutable.

#include "line.h"
#include "split_format.h"

namespace telltale::diag {

class SiteLine {
 public:
  // The text of the format must outlive it.
  SiteLine(const Origin& origin, Level level, ShowLocation show);
  bool is_for(Level level, ShowLocation show) const noexcept { return level_ == level && show_ == show; }

  // Appends one whole line, ended by '\n', or several (line.h). The level and the origin of `head` are not looked at.
  void append(TextBuffer& out, LineWriter& writer, const LineHead& head, RecordReader arguments) const;

 private:
  const Level level_;
  const ShowLocation show_;
  std::string origin_;  // "DEBUG (http) <http1/session.cc:95 (on_request)>", and kCopySlack bytes
  std::size_t origin_bytes_;
  const std::string_view format_;
  const SplitFormat split_;
};

}  // namespace telltale::diag
