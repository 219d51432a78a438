// SPDX-License-Identifier: Apache-2.0
#pragma once
// EntryMaker: from a record to its Entry: the form beside a line (line.h).
//
// **Thread safety:** thread-compatible. An entry is valid until the next call.
// Cost: all text is escaped once, into one buffer; allocates only where a record is larger than all before.

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <telltale/diag/entry.h>

#include "line.h"

namespace telltale::diag {

class EntryMaker {
 public:
  // `text`: what LineWriter::text() makes without fields, not yet escaped, and its lines_bytes(). `arguments`: the record's, as they were for
  // that; the named ones become the entry's fields.
  const Entry& make(const LineHead& head, std::string_view text, std::size_t lines_bytes, RecordReader arguments);
  // Of what is no record.
  const Entry& make(const LineHead& head, std::string_view text);

 private:
  // Where in text_ something is; text_ may move while it grows.
  struct Part {
    std::size_t at = 0, bytes = 0;
  };
  struct Field {
    Part name, value;
    FieldKind kind = FieldKind::kText;
  };
  enum { kTag, kFile, kFunction, kModule, kThread, kPlugin, kClient, kMessage, kParts };

  void begin(const LineHead& head, std::string_view text, std::size_t lines_bytes);
  const Entry& end();
  Part keep(std::string_view text);
  Field keep(const Argument& field);
  std::string_view view(Part part) const noexcept { return {text_.data() + part.at, part.bytes}; }

  std::string text_;
  std::array<Part, kParts> parts_;
  std::vector<Field> field_parts_;
  std::vector<EntryField> fields_;
  Entry entry_;
};

}  // namespace telltale::diag
