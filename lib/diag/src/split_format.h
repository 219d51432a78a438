// SPDX-License-Identifier: Apache-2.0
#pragma once
// SplitFormat: a format taken apart once, for a site whose lines come by the thousand.
//
// fmt parses a format each time, into text that is then looked through for bytes to escape. Here the text between
// the replacement fields is escaped once; of what is put in, numbers need no escaping and strings are looked at
// while they are copied. The result is LineWriter::text(), escaped, to the byte.
//
// Whatever is not plain ("{1} {0}", "{:{}}", an argument that is missing, a value out of all proportion, several lines) is refused:
// not usable(), or append() returns false. Then the other way is gone. A field with a specification ("{:.3f}") is
// left to fmt by itself.
//
// **Thread safety:** immutable.
// Cost of append(): no allocation but for the growth of `out`, and what fmt needs for specifications.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "record_reader.h"
#include "text_buffer.h"

namespace telltale::diag {

class SplitFormat {
 public:
  explicit SplitFormat(std::string_view format);
  bool usable() const noexcept { return usable_; }

  // The text of a record with its fields, escaped. False: `out` is as it was; `arguments` are read in part.
  // REQUIRES: usable().
  bool append(TextBuffer& out, RecordReader& arguments) const;

 private:
  // A replacement field, with the text in front of it.
  struct Piece {
    std::uint32_t text_at, text_bytes;  // in texts_
    std::string specification;          // "{:.3f}"; empty: as the type has it
  };

  bool split(std::string_view format);
  bool end_text(std::string_view raw, std::uint32_t& at, std::uint32_t& bytes);
  bool append_pieces(TextBuffer& out, RecordReader& arguments) const;
  bool append_rest(TextBuffer& out, RecordReader& arguments) const;

  std::vector<Piece> pieces_;
  std::string texts_;  // escaped, with kCopySlack bytes behind them
  std::uint32_t tail_at_ = 0, tail_bytes_ = 0;
  std::size_t fixed_bytes_ = 0;  // of all texts, and of arguments that are no strings
  bool usable_ = false;
};

}  // namespace telltale::diag
