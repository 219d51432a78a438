// SPDX-License-Identifier: Apache-2.0
// See site_line.h; tested in site_line_test.cc.
#include "site_line.h"

#include "escape.h"

namespace telltale::diag {

SiteLine::SiteLine(const Origin& origin, Level level, ShowLocation show)
    : level_(level), show_(show), format_(origin.format) {
  append_origin(origin_, level, origin, show);
}

void SiteLine::append(TextBuffer& out, LineWriter& writer, const LineHead& head, RecordReader arguments) const {
  writer.append_beginning(out, head);
  out += origin_.view();
  append_ids(out, head);
  out += ' ';
  RecordReader again = arguments;
  if (!format_.usable() || !format_.append(out, arguments)) append_escaped(out, writer.text(head.origin.format, again));
  out += '\n';
}

}  // namespace telltale::diag
