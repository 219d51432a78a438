// SPDX-License-Identifier: Apache-2.0
// See record_log_line.h; tested in record_log_test.cc.
#include "record_log_line.h"

#include <algorithm>

#include <fmt/format.h>

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

}  // namespace

Origin own_origin() noexcept { return {"diag", {}, __FILE__, {}, __LINE__}; }

std::string_view level_word(Level level) noexcept { return kLevelNames[static_cast<std::size_t>(level) % kLevels]; }

std::string_view level_word_upper(Level level) noexcept { return kLevelWords[static_cast<std::size_t>(level) % kLevels]; }

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
  lines_bytes_ = 0;
  switch (event.kind) {
    case LogEventKind::kRecord: {
      RecordReader arguments = record_arguments(event);
      if (modest(event.head.origin.format, arguments)) {
        const std::string_view words = lines_.text(event.head.origin.format, arguments, with_fields);
        lines_bytes_ = lines_.lines_bytes();
        return words;
      }
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
  const std::string_view words = text(event, true);
  lines_.append(out, event.head, show, words, lines_bytes_);
}

void LogLineWriter::append_json(std::string& out, const LogEvent& event) {
  const std::string_view words = text(event, false);
  Entry entry = event.kind == LogEventKind::kRecord ? entries_.make(event.head, words, lines_bytes_, record_arguments(event))
                                                    : entries_.make(event.head, words);
  entry.lost = event.lost;
  json_.append(out, entry);
}

}  // namespace telltale::diag
