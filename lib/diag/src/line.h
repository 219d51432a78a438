// SPDX-License-Identifier: Apache-2.0
#pragma once
// Line: from a record to its one line of text.
//
//   [2026-11-30T10:00:00.123456Z] [worker-0] DEBUG (http) <http1/session.cc:95 (on_request)> {c12 t345 header_note} text
//
// "(tag)", "<place>" and "{ids}" are left out where there is nothing to show; of the ids, each part.
// Fields follow the text as " name=value". A string that was cut when it was stored ends in
// "...[+N bytes]". A record of several lines (argument.h, is_lines) becomes as many, each with all that stands
// before the text; its fields follow the last. Text, tag, thread, file, function, plugin and field names are escaped (escape.h).
//
// A format that does not fit its arguments (it can only be one not checked by the compiler) becomes the
// text "[bad format: why] FORMAT [arguments: A, B]"; nothing is thrown.
//
// **Thread safety:** thread-compatible.

#include <cstdint>
#include <string>
#include <string_view>

#include <telltale/diag/output.h>
#include <telltale/diag/record.h>

#include "record_reader.h"
#include "text_buffer.h"

namespace telltale::diag {

// Where a record comes from. Views into the dictionary or the record.
struct Origin {
  std::string_view tag, format, file, function;  // function: short
  std::uint32_t line = 0;
  std::string_view module = {};  // no part of a line; empty: not known
};

// What stands before the text.
struct LineHead {
  std::int64_t wall_ns = 0;
  std::string_view thread;
  Level level = Level::kDebug;
  Origin origin;
  std::uint64_t connection = 0, transaction = 0;
  std::string_view plugin;
  std::uint32_t thread_id = 0;   // the kernel's; 0: not known. With the client no part of a line
  std::string_view client = {};
};

// Of a record of site 0: takes it from the first five arguments, which are then read.
Origin read_own_origin(RecordReader& arguments);

// The parts of a line between its time and its text.
void append_origin(TextBuffer& out, Level level, const Origin& origin, ShowLocation show);  // "DEBUG (http) <...>"
void append_ids(TextBuffer& out, const LineHead& head);                                     // " {c12 t345 header_note}"

// Its text and '\n'. The line begins at `line_at` in `out`. Of text with a '\n' within its first `lines_bytes`, more
// such lines.
void append_lines(TextBuffer& out, std::size_t line_at, std::string_view text, std::size_t lines_bytes);
// `text` escaped, but for the '\n' that separates lines. For sinks that keep a record whole.
void append_escaped_lines(std::string& out, std::string_view text, std::size_t lines_bytes);

class LineWriter {
 public:
  LineWriter();
  // Appends one whole line, ended by '\n'; more where a '\n' is within the first `lines_bytes` of `text`.
  void append(std::string& out, const LineHead& head, ShowLocation show, std::string_view text, std::size_t lines_bytes = 0);
  void append(TextBuffer& out, const LineHead& head, ShowLocation show, std::string_view text, std::size_t lines_bytes = 0);
  // Its beginning: "[2026-11-30T10:00:00.123456Z] [worker-0] "
  void append_beginning(TextBuffer& out, const LineHead& head);
  // The text of a record, not yet escaped; valid until the next call.
  std::string_view text(std::string_view format, RecordReader& arguments, bool with_fields = true);
  // Of the last text(): each '\n' in so many bytes separates two lines. Elsewhere it is a byte like others.
  std::size_t lines_bytes() const { return lines_bytes_; }
  // "2026-11-30T10:00:00.123456Z"
  void append_time(std::string& out, std::int64_t wall_ns);

 private:
  char* put_time(char* at, std::int64_t wall_ns);
  std::int64_t begin_second(std::int64_t wall_ns);

  std::string text_;
  std::size_t lines_bytes_ = 0;
  TextBuffer line_;
  std::int64_t second_ns_ = 0;  // when the one of second_text_ began
  char second_text_[20] = {};  // "2026-11-30T10:00:00."; a wall_ns has no year beyond 2262
};

inline constexpr std::size_t kTextBytesMax = 256 * 1024;  // of one line before escaping; the rest is cut and counted

}  // namespace telltale::diag
