// SPDX-License-Identifier: Apache-2.0
// See line.h; tested in line_test.cc.
#include "line.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstring>
#include <deque>
#include <limits>

#include <fmt/format.h>

#include "escape.h"
#include "format_argument.h"
#include "short_function.h"

namespace telltale::diag {

namespace {

constexpr std::array<std::string_view, kLevels> kLevelWords{"DEBUG", "STATUS", "NOTE",  "WARNING",
                                                            "ERROR", "FATAL",  "ALERT", "EMERGENCY"};

constexpr std::uint32_t kSecondNs = 1'000'000'000;
constexpr std::size_t kNumberBytesMax = 20;
constexpr std::size_t kTimeBytes = sizeof "2026-11-30T10:00:00.123456Z" - 1;

// "00" to "99", one behind the other.
constexpr std::array<char, 200> kPairs = [] {
  std::array<char, 200> all{};
  for (std::size_t i = 0; i < 100; ++i) {
    all[i * 2] = static_cast<char>('0' + i / 10);
    all[i * 2 + 1] = static_cast<char>('0' + i % 10);
  }
  return all;
}();

char* put_number(char* at, std::uint64_t n) noexcept { return std::to_chars(at, at + kNumberBytesMax, n).ptr; }

void append_number(TextBuffer& out, std::uint64_t n) { out.end_at(put_number(out.room(kNumberBytesMax), n)); }

// `keep` holds the text of strings that are shown with what they lost.
fmt::basic_format_arg<fmt::format_context> format_argument(const Argument& a, std::deque<std::string>& keep) {
  if (a.lost_bytes == 0) return format_argument(a);
  return format_value(std::string_view(keep.emplace_back(fmt::format("{}...[+{} bytes]", a.as_string, a.lost_bytes))));
}

constexpr std::size_t kArgumentsMax = 32;

// Appends at most kTextBytesMax in all.
void format_bounded(std::string& out, std::string_view format, fmt::format_args args) {
  std::size_t start = out.size(), guess = 512;
  for (;;) {
    out.resize(start + guess);
    std::size_t size = fmt::vformat_to_n(out.data() + start, guess, format, args).size;
    if (size <= guess) {
      out.resize(start + size);
      return;
    }
    if (guess == kTextBytesMax) {
      fmt::format_to(std::back_inserter(out), "...[+{} bytes]", size - guess);
      return;
    }
    guess = std::min(size, kTextBytesMax);
  }
}

void append_bad_format(std::string& out, std::string_view why, std::string_view format, fmt::format_args args,
                       std::size_t count) {
  out.append("[bad format: ").append(why).append("] ").append(format).append(" [arguments: ");
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) out += ", ";
    fmt::basic_format_arg<fmt::format_context> one[] = {args.get(static_cast<int>(i))};
    format_bounded(out, "{}", fmt::format_args(one, 1));
  }
  out += ']';
}

// Calls each(line, is it the first).
template <class Each>
void for_each_line(std::string_view text, std::size_t lines_bytes, Each each) {
  const std::string_view lines = text.substr(0, lines_bytes);
  std::size_t begin = 0;
  for (std::size_t end; (end = lines.find('\n', begin)) != std::string_view::npos; begin = end + 1) {
    each(text.substr(begin, end - begin), begin == 0);
  }
  each(text.substr(begin), begin == 0);
}

}  // namespace

Origin read_own_origin(RecordReader& arguments) {
  Origin origin;
  Argument a;
  for (std::string_view* part : {&origin.tag, &origin.file, &origin.function, &origin.format}) {
    if (arguments.next(a)) *part = a.as_string;
  }
  if (arguments.next(a)) origin.line = static_cast<std::uint32_t>(a.as_unsigned);
  origin.function = short_function(origin.function);
  return origin;
}

LineWriter::LineWriter() { begin_second(0); }

std::string_view LineWriter::text(std::string_view format, RecordReader& arguments, bool with_fields) {
  text_.clear();
  std::array<fmt::basic_format_arg<fmt::format_context>, kArgumentsMax> args;
  std::array<std::string_view, kArgumentsMax> names;
  std::deque<std::string> keep;
  std::size_t positional = 0, all = 0;
  bool several = false;
  for (Argument a; all < kArgumentsMax && arguments.next(a); ++all) {
    names[all] = a.name;
    args[all] = format_argument(a, keep);
    if (!a.name.empty()) continue;
    positional = all + 1;
    several = all == 0 && a.kind == Kind::kLines && format == "{}";
  }
  fmt::format_args list(args.data(), static_cast<int>(positional));
  try {
    format_bounded(text_, format, list);
  } catch (const std::exception& e) {
    text_.clear();
    append_bad_format(text_, e.what(), format, list, positional);
  }
  lines_bytes_ = several ? text_.size() : 0;
  for (std::size_t i = positional; with_fields && i < all; ++i) {
    text_.append(" ").append(names[i]).append("=");
    format_bounded(text_, "{}", fmt::format_args(&args[i], 1));
  }
  return text_;
}

// The part up to the seconds is the same for many lines. Not by gmtime_r(): it takes a lock that fork() does not mend, and
// a child forked at that moment would wait for it for ever.
// Returns `wall_ns`, or the first time of a whole second, if that is later.
std::int64_t LineWriter::begin_second(std::int64_t wall_ns) {
  wall_ns = std::max(wall_ns, std::numeric_limits<std::int64_t>::min() + std::int64_t{kSecondNs});
  const auto time = std::chrono::floor<std::chrono::seconds>(std::chrono::sys_time<std::chrono::nanoseconds>(std::chrono::nanoseconds(wall_ns)));
  auto day = std::chrono::floor<std::chrono::days>(time);
  std::chrono::year_month_day date{day};
  std::chrono::hh_mm_ss clock{time - day};
  fmt::format_to_n(second_text_, sizeof second_text_, "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.",
                   static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                   static_cast<unsigned>(date.day()), clock.hours().count(), clock.minutes().count(),
                   clock.seconds().count());
  second_ns_ = std::chrono::nanoseconds(time.time_since_epoch()).count();
  return wall_ns;
}

char* LineWriter::put_time(char* at, std::int64_t wall_ns) {
  auto in_second = [&] { return static_cast<std::uint64_t>(wall_ns) - static_cast<std::uint64_t>(second_ns_); };
  if (wall_ns < second_ns_ || in_second() >= kSecondNs) [[unlikely]] wall_ns = begin_second(wall_ns);
  std::memcpy(at, second_text_, sizeof second_text_);
  at += sizeof second_text_;
  const std::uint32_t micros = static_cast<std::uint32_t>(in_second()) / 1000;
  for (std::uint32_t pair : {micros / 10'000, micros / 100 % 100, micros % 100}) {
    std::memcpy(at, &kPairs[pair * 2], 2);
    at += 2;
  }
  *at++ = 'Z';
  return at;
}

void LineWriter::append_time(std::string& out, std::int64_t wall_ns) {
  char text[kTimeBytes];
  out.append(text, static_cast<std::size_t>(put_time(text, wall_ns) - text));
}

void LineWriter::append_beginning(TextBuffer& out, const LineHead& head) {
  const bool plain = is_plain(head.thread);
  char* at = out.room(kTimeBytes + 6 + (plain ? head.thread.size() : 0));
  *at++ = '[';
  at = std::copy_n("] [", 3, put_time(at, head.wall_ns));
  if (plain) [[likely]] {
    at += head.thread.copy(at, head.thread.size());
  } else {
    out.end_at(at);
    append_escaped(out, head.thread);
    at = out.room(2);
  }
  out.end_at(std::copy_n("] ", 2, at));
}

void append_origin(TextBuffer& out, Level level, const Origin& origin, ShowLocation show) {
  auto number = static_cast<std::size_t>(level);
  out += number < kLevels ? kLevelWords[number] : "?";
  if (!origin.tag.empty()) {
    out += " (";
    append_escaped(out, origin.tag);
    out += ')';
  }
  if (!origin.file.empty() &&
      (show == ShowLocation::kAllLines || (show == ShowLocation::kDebugLines && level == Level::kDebug))) {
    out += " <";
    append_escaped(out, origin.file);
    out += ':';
    append_number(out, origin.line);
    if (!origin.function.empty()) {
      out += " (";
      append_escaped(out, origin.function);
      out += ')';
    }
    out += '>';
  }
}

void append_ids(TextBuffer& out, const LineHead& head) {
  if (head.connection == 0 && head.transaction == 0 && head.plugin.empty()) return;
  char* at = out.room(2 * kNumberBytesMax + 6);
  *at++ = ' ';
  *at++ = '{';
  const char* begin = at;
  if (head.connection != 0) {
    *at++ = 'c';
    at = put_number(at, head.connection);
  }
  if (head.transaction != 0) {
    if (at != begin) *at++ = ' ';
    *at++ = 't';
    at = put_number(at, head.transaction);
  }
  if (!head.plugin.empty()) {
    if (at != begin) *at++ = ' ';
    out.end_at(at);
    append_escaped(out, head.plugin);
    out += '}';
  } else {
    *at++ = '}';
    out.end_at(at);
  }
}

void append_lines(TextBuffer& out, std::size_t line_at, std::string_view text, std::size_t lines_bytes) {
  const std::size_t before = out.size() - line_at;
  for_each_line(text, lines_bytes, [&](std::string_view line, bool first) {
    if (!first) {
      char* at = out.room(before);
      out.end_at(std::copy_n(out.view().data() + line_at, before, at));
    }
    append_escaped(out, line);
    out += '\n';
  });
}

void append_escaped_lines(std::string& out, std::string_view text, std::size_t lines_bytes) {
  for_each_line(text, lines_bytes, [&](std::string_view line, bool first) {
    if (!first) out += '\n';
    append_escaped(out, line);
  });
}

void LineWriter::append(TextBuffer& out, const LineHead& head, ShowLocation show, std::string_view text, std::size_t lines_bytes) {
  const std::size_t line_at = out.size();
  append_beginning(out, head);
  append_origin(out, head.level, head.origin, show);
  append_ids(out, head);
  out += ' ';
  append_lines(out, line_at, text, lines_bytes);
}

void LineWriter::append(std::string& out, const LineHead& head, ShowLocation show, std::string_view text, std::size_t lines_bytes) {
  line_.clear();
  append(line_, head, show, text, lines_bytes);
  out += line_.view();
}

}  // namespace telltale::diag
