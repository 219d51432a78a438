// SPDX-License-Identifier: Apache-2.0
// See entry_json.h; tested in entry_test.cc.
#include "entry_json.h"

#include <algorithm>

#include <fmt/format.h>

#include "record_log_line.h"

namespace telltale::diag {

namespace {

// `text` is escaped already: what is left is what JSON takes for itself, and the ends of lines.
void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const std::size_t run = std::min(text.find_first_of("\"\\\n"), text.size());
    out.append(text.substr(0, run));
    text.remove_prefix(run);
    if (text.empty()) break;
    out += '\\';
    out += text[0] == '\n' ? 'n' : text[0];
    text.remove_prefix(1);
  }
  out += '"';
}

void append_text(std::string& out, std::string_view key, std::string_view value) {
  if (value.empty()) return;
  out.append(",\"").append(key).append("\":");
  append_quoted(out, value);
}

void append_number(std::string& out, std::string_view key, std::uint64_t value) {
  if (value == 0) return;
  const fmt::format_int digits(value);
  out.append(",\"").append(key).append("\":").append(digits.data(), digits.size());
}

// How often the name has come before.
std::size_t before(std::span<const EntryField> fields, std::size_t i) {
  return static_cast<std::size_t>(std::count_if(fields.begin(), fields.begin() + static_cast<std::ptrdiff_t>(i),
                                                [&](const EntryField& other) { return other.name == fields[i].name; }));
}

void append_fields(std::string& out, std::span<const EntryField> fields) {
  if (fields.empty()) return;
  out += ",\"fields\":{";
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const EntryField& field = fields[i];
    if (i > 0) out += ',';
    append_quoted(out, field.name);
    if (const std::size_t n = before(fields, i); n > 0) {
      out.pop_back();
      fmt::format_to(std::back_inserter(out), "#{}\"", n + 1);
    }
    out += ':';
    if (field.kind == FieldKind::kText) {
      append_quoted(out, field.value);
    } else {
      out.append(field.value);
    }
  }
  out += '}';
}

}  // namespace

void append_nanoseconds(std::string& out, LineWriter& lines, std::int64_t wall_ns) {
  lines.append_time(out, wall_ns);
  const auto rest = static_cast<unsigned>((wall_ns % 1000 + 1000) % 1000);
  out.back() = static_cast<char>('0' + rest / 100);
  out += static_cast<char>('0' + rest / 10 % 10);
  out += static_cast<char>('0' + rest % 10);
  out += 'Z';
}

void EntryJson::append(std::string& out, const Entry& e) {
  out += "{\"time\":\"";
  append_nanoseconds(out, lines_, e.wall_ns);
  out += '"';
  append_text(out, "level", level_word_upper(e.level));
  append_text(out, "tag", e.tag);
  append_text(out, "file", e.file);
  append_number(out, "line", e.line);
  append_text(out, "function", e.function);
  append_text(out, "module", e.module);
  append_text(out, "thread", e.thread);
  append_number(out, "tid", e.thread_id);
  append_number(out, "connection", e.connection);
  append_number(out, "transaction", e.transaction);
  append_text(out, "plugin", e.plugin);
  append_text(out, "client", e.client);
  append_number(out, "lost", e.lost);
  out += ",\"text\":";
  append_quoted(out, e.message);
  append_fields(out, e.fields);
  out += "}\n";
}

}  // namespace telltale::diag
