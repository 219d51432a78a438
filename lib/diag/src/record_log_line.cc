// SPDX-License-Identifier: Apache-2.0
// See record_log_line.h; tested in record_log_test.cc.
#include "record_log_line.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "escape.h"
#include "record_log.h"

namespace telltale::diag {

namespace {

constexpr std::string_view kReasons[] = {"the ring was full", "larger than the ring allows",
                                         "written while the same thread was formatting another line",
                                         "no ring was free for the thread"};
constexpr std::string_view kLevelNames[kLevels] = {"debug", "status", "note",  "warning",
                                                   "error", "fatal",  "alert", "emergency"};
constexpr std::string_view kLevelWords[kLevels] = {"DEBUG", "STATUS", "NOTE",  "WARNING",
                                                   "ERROR", "FATAL",  "ALERT", "EMERGENCY"};

// Beyond these a width or precision is none that an author writes, but one of a hostile file to keep its reader busy.
constexpr std::size_t kWidthDigitsMax = 4;
constexpr long long kWidthMax = 10'000;

bool modest(std::string_view format, RecordReader arguments) {
  std::size_t depth = 0, digits = 0;
  bool nested = false;
  for (char c : format) {
    digits = c >= '0' && c <= '9' ? digits + 1 : 0;
    if (c == '{') nested = ++depth > 1 || nested;
    if (c == '}' && depth > 0) --depth;
    if (depth > 0 && digits > kWidthDigitsMax) return false;
  }
  if (!nested) return true;
  for (Argument a; arguments.next(a);) {
    if (a.kind == Kind::kUnsigned && a.as_unsigned > static_cast<unsigned long long>(kWidthMax)) return false;
    if (a.kind == Kind::kSigned && a.as_signed > kWidthMax) return false;
  }
  return true;
}

// `text` is escaped already.
void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  out += '"';
}

void append_value(std::string& out, std::string& escaped, const Argument& a) {
  auto quoted = [&](std::string_view text) {
    escaped.clear();
    append_escaped(escaped, text);
    append_quoted(out, escaped);
  };
  switch (a.kind) {
    case Kind::kSigned: fmt::format_to(std::back_inserter(out), "{}", a.as_signed); return;
    case Kind::kUnsigned: fmt::format_to(std::back_inserter(out), "{}", a.as_unsigned); return;
    case Kind::kBool: out += a.as_bool ? "true" : "false"; return;
    case Kind::kFloat:
      if (std::isfinite(a.as_float)) {
        fmt::format_to(std::back_inserter(out), "{}", a.as_float);
      } else {
        quoted(fmt::format("{}", a.as_float));
      }
      return;
    case Kind::kChar: quoted(std::string_view(&a.as_char, 1)); return;
    case Kind::kPointer: quoted(fmt::format("{}", a.as_pointer)); return;
    default: break;
  }
  quoted(a.lost_bytes == 0 ? std::string(a.as_string) : fmt::format("{}...[+{} bytes]", a.as_string, a.lost_bytes));
}

}  // namespace

Origin own_origin() noexcept { return {"diag", {}, __FILE__, {}, __LINE__}; }

std::string_view level_word(Level level) noexcept { return kLevelNames[static_cast<std::size_t>(level) % kLevels]; }

std::string_view loss_reason(std::uint8_t reason) noexcept {
  return kReasons[std::min<std::size_t>(reason, std::size(kReasons) - 1)];
}

std::string loss_text(std::uint64_t lost, Level level, bool of_other_tags, std::string_view tag, std::uint8_t reason,
                      std::string_view detail) {
  const char* plural = lost == 1 ? "" : "s";
  std::string_view why = reason == kLostBySink ? detail : loss_reason(reason);
  if (reason == kLostBySink) return fmt::format("{} line{} lost here: {}", lost, plural, why);
  if (of_other_tags) return fmt::format("{} line{} of other tags and levels lost here: {}", lost, plural, why);
  return fmt::format("{} {} line{}{}{} lost here: {}", lost, level_word(level), plural,
                     tag.empty() ? "" : " of tag ", tag, why);
}

std::string step_text(std::int64_t step_ns) {
  return fmt::format("the system clock was stepped by {:+.6f} s", static_cast<double>(step_ns) * 1e-9);
}

std::string_view LogLineWriter::text(const LogEvent& event, bool with_fields) {
  switch (event.kind) {
    case LogEventKind::kRecord: {
      RecordReader arguments = record_arguments(event);
      if (modest(event.head.origin.format, arguments)) return lines_.text(event.head.origin.format, arguments, with_fields);
      own_text_ = fmt::format("[bad format: too wide] {}", event.head.origin.format);
      return own_text_;
    }
    case LogEventKind::kLoss:
      own_text_ = loss_text(event.lost, event.lost_level, event.of_other_tags, event.lost_tag, event.reason, event.detail);
      return own_text_;
    case LogEventKind::kStep: own_text_ = step_text(event.step_ns); return own_text_;
    case LogEventKind::kNotice: break;
  }
  return event.text;
}

void LogLineWriter::append(std::string& out, const LogEvent& event, ShowLocation show) {
  lines_.append(out, event.head, show, text(event, true));
}

void LogLineWriter::append_json(std::string& out, const LogEvent& event) {
  const LineHead& head = event.head;
  auto text_key = [&](std::string_view key, std::string_view value) {
    if (value.empty()) return;
    escaped_.clear();
    append_escaped(escaped_, value);
    out.append(",\"").append(key).append("\":");
    append_quoted(out, escaped_);
  };
  auto number_key = [&](std::string_view key, std::uint64_t value) {
    if (value != 0) fmt::format_to(std::back_inserter(out), ",\"{}\":{}", key, value);
  };
  out += "{\"time\":\"";
  lines_.append_time(out, head.wall_ns);
  out += '"';
  text_key("level", kLevelWords[static_cast<std::size_t>(head.level) % kLevels]);
  text_key("tag", head.origin.tag);
  text_key("file", head.origin.file);
  number_key("line", head.origin.line);
  text_key("function", head.origin.function);
  text_key("module", head.origin.module);
  text_key("thread", head.thread);
  number_key("connection", head.connection);
  number_key("transaction", head.transaction);
  text_key("plugin", head.plugin);
  number_key("lost", event.lost);
  escaped_.clear();
  append_escaped(escaped_, text(event, false));
  out += ",\"text\":";
  append_quoted(out, escaped_);
  if (event.kind == LogEventKind::kRecord) append_fields(out, event);
  out += "}\n";
}

void LogLineWriter::append_fields(std::string& out, const LogEvent& event) {
  RecordReader arguments = record_arguments(event);
  bool any = false;
  for (Argument a; arguments.next(a);) {
    if (a.name.empty()) continue;
    out += any ? "," : ",\"fields\":{";
    any = true;
    escaped_.clear();
    append_escaped(escaped_, a.name);
    append_quoted(out, escaped_);
    out += ':';
    append_value(out, escaped_, a);
  }
  if (any) out += '}';
}

}  // namespace telltale::diag
