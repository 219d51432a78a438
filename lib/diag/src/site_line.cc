// SPDX-License-Identifier: Apache-2.0
// See site_line.h; tested in site_line_test.cc.
#include "site_line.h"

#include "escape.h"

namespace telltale::diag {

SiteLine::SiteLine(const Origin& origin, Level level, ShowLocation show)
    : level_(level), show_(show), format_(origin.format), split_(origin.format) {
  TextBuffer text;
  append_origin(text, level, origin, show);
  origin_ = text.view();
  origin_bytes_ = origin_.size();
  origin_.append(kCopySlack, '\0');
}

void SiteLine::append(TextBuffer& out, LineWriter& writer, const LineHead& head, RecordReader arguments) const {
  const std::size_t line_at = out.size();
  writer.append_beginning(out, head);
  out.end_at(put_in_steps(out.room(origin_.size()), origin_.data(), origin_bytes_));
  append_ids(out, head);
  out += ' ';
  RecordReader again = arguments;
  if (split_.usable() && split_.append(out, arguments)) {
    out += '\n';
  } else {
    const std::string_view text = writer.text(format_, again);
    append_lines(out, line_at, text, writer.lines_bytes());
  }
}

}  // namespace telltale::diag
