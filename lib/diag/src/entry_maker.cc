// SPDX-License-Identifier: Apache-2.0
// See entry_maker.h; tested in entry_test.cc.
#include "entry_maker.h"

#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "escape.h"

namespace telltale::diag {

EntryMaker::Part EntryMaker::keep(std::string_view text) {
  const std::size_t at = text_.size();
  append_escaped(text_, text);
  return {at, text_.size() - at};
}

EntryMaker::Field EntryMaker::keep(const Argument& a) {
  Field field;
  field.name = keep(a.name);
  const std::size_t at = text_.size();
  auto print = [this](const auto& value) { fmt::format_to(std::back_inserter(text_), "{}", value); };
  field.kind = FieldKind::kNumber;
  switch (a.kind) {
    case Kind::kSigned: print(a.as_signed); break;
    case Kind::kUnsigned: print(a.as_unsigned); break;
    case Kind::kFloat:
      print(a.as_float);
      if (!std::isfinite(a.as_float)) field.kind = FieldKind::kText;
      break;
    case Kind::kBool:
      print(a.as_bool);
      field.kind = FieldKind::kBool;
      break;
    case Kind::kPointer:
      print(a.as_pointer);
      field.kind = FieldKind::kText;
      break;
    case Kind::kChar:
      keep(std::string_view(&a.as_char, 1));
      field.kind = FieldKind::kText;
      break;
    default:
      keep(a.as_string);
      if (a.lost_bytes != 0) fmt::format_to(std::back_inserter(text_), "...[+{} bytes]", a.lost_bytes);
      field.kind = FieldKind::kText;
  }
  field.value = {at, text_.size() - at};
  return field;
}

void EntryMaker::begin(const LineHead& head, std::string_view text, std::size_t lines_bytes) {
  text_.clear();
  field_parts_.clear();
  entry_ = {};
  entry_.wall_ns = head.wall_ns;
  entry_.level = head.level;
  entry_.line = head.origin.file.empty() ? 0 : head.origin.line;
  entry_.thread_id = head.thread_id;
  entry_.connection = head.connection;
  entry_.transaction = head.transaction;
  parts_[kTag] = keep(head.origin.tag);
  parts_[kFile] = keep(head.origin.file);
  parts_[kFunction] = keep(head.origin.function);
  parts_[kModule] = keep(head.origin.module);
  parts_[kThread] = keep(head.thread);
  parts_[kPlugin] = keep(head.plugin);
  parts_[kClient] = keep(head.client);
  const std::size_t message = text_.size();
  append_escaped_lines(text_, text, lines_bytes);
  parts_[kMessage] = {message, text_.size() - message};
}

const Entry& EntryMaker::end() {
  entry_.tag = view(parts_[kTag]);
  entry_.file = view(parts_[kFile]);
  entry_.function = view(parts_[kFunction]);
  entry_.module = view(parts_[kModule]);
  entry_.thread = view(parts_[kThread]);
  entry_.plugin = view(parts_[kPlugin]);
  entry_.client = view(parts_[kClient]);
  entry_.message = view(parts_[kMessage]);
  fields_.clear();
  for (const Field& field : field_parts_) fields_.push_back({view(field.name), view(field.value), field.kind});
  entry_.fields = fields_;
  return entry_;
}

const Entry& EntryMaker::make(const LineHead& head, std::string_view text, std::size_t lines_bytes, RecordReader arguments) {
  begin(head, text, lines_bytes);
  for (Argument a; arguments.next(a);) {
    if (!a.name.empty()) field_parts_.push_back(keep(a));
  }
  return end();
}

const Entry& EntryMaker::make(const LineHead& head, std::string_view text) {
  begin(head, text, 0);
  return end();
}

}  // namespace telltale::diag
