// SPDX-License-Identifier: Apache-2.0
// See line.h; tested in line_test.cc.
#include "line.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>

#include <fmt/format.h>

#include "escape.h"
#include "short_function.h"

namespace telltale::diag {

namespace {

constexpr std::array<std::string_view, kLevels> kLevelWords{"DEBUG", "STATUS", "NOTE",  "WARNING",
                                                            "ERROR", "FATAL",  "ALERT", "EMERGENCY"};

void append_number(std::string& out, std::uint64_t n) {
  fmt::format_int text(n);
  out.append(text.data(), text.size());
}

// fmt keeps values of the basic types in the argument itself; only strings must outlive the call.
template <class T>
fmt::basic_format_arg<fmt::format_context> format_arg(const T& value) {
  return fmt::format_args(fmt::make_format_args(value)).get(0);
}

// `keep` holds the text of strings that are shown with what they lost.
fmt::basic_format_arg<fmt::format_context> format_arg(const Argument& a, std::deque<std::string>& keep) {
  switch (a.kind) {
    case Kind::kSigned: return format_arg(a.as_signed);
    case Kind::kUnsigned: return format_arg(a.as_unsigned);
    case Kind::kFloat: return format_arg(a.as_float);
    case Kind::kBool: return format_arg(a.as_bool);
    case Kind::kChar: return format_arg(a.as_char);
    case Kind::kPointer: return format_arg(a.as_pointer);
    default: break;
  }
  if (a.lost_bytes == 0) return format_arg(a.as_string);
  return format_arg(std::string_view(keep.emplace_back(fmt::format("{}...[+{} bytes]", a.as_string, a.lost_bytes))));
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

std::string_view LineWriter::text(std::string_view format, RecordReader& arguments, bool with_fields) {
  text_.clear();
  std::array<fmt::basic_format_arg<fmt::format_context>, kArgumentsMax> args;
  std::array<std::string_view, kArgumentsMax> names;
  std::deque<std::string> keep;
  std::size_t positional = 0, all = 0;
  for (Argument a; all < kArgumentsMax && arguments.next(a); ++all) {
    names[all] = a.name;
    args[all] = format_arg(a, keep);
    if (a.name.empty()) positional = all + 1;
  }
  fmt::format_args list(args.data(), static_cast<int>(positional));
  try {
    format_bounded(text_, format, list);
  } catch (const std::exception& e) {
    text_.clear();
    append_bad_format(text_, e.what(), format, list, positional);
  }
  for (std::size_t i = positional; with_fields && i < all; ++i) {
    text_.append(" ").append(names[i]).append("=");
    format_bounded(text_, "{}", fmt::format_args(&args[i], 1));
  }
  return text_;
}

void LineWriter::append_time(std::string& out, std::int64_t wall_ns) {
  std::int64_t second = wall_ns / 1'000'000'000, micros = wall_ns % 1'000'000'000 / 1000;
  if (second != second_) {
    second_ = second;
    // Not gmtime_r(): it takes a lock that fork() does not mend, and a child forked at that moment would
    // wait for it for ever.
    std::chrono::sys_seconds time{std::chrono::seconds(second)};
    auto day = std::chrono::floor<std::chrono::days>(time);
    std::chrono::year_month_day date{day};
    std::chrono::hh_mm_ss clock{time - day};
    auto end = fmt::format_to_n(second_text_, sizeof second_text_ - 1, "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.",
                                static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                                static_cast<unsigned>(date.day()), clock.hours().count(), clock.minutes().count(),
                                clock.seconds().count());
    *end.out = '\0';
  }
  out += second_text_;
  char digits[7] = {'0', '0', '0', '0', '0', '0', 'Z'};
  for (int i = 5; i >= 0; --i, micros /= 10) digits[i] = static_cast<char>('0' + micros % 10);
  out.append(digits, sizeof digits);
}

void LineWriter::append(std::string& out, const LineHead& head, ShowLocation show, std::string_view text) {
  out += '[';
  append_time(out, head.wall_ns);
  out += "] [";
  append_escaped(out, head.thread);
  out += "] ";
  auto level = static_cast<std::size_t>(head.level);
  out += level < kLevels ? kLevelWords[level] : "?";
  if (!head.origin.tag.empty()) {
    out += " (";
    append_escaped(out, head.origin.tag);
    out += ')';
  }
  if (!head.origin.file.empty() &&
      (show == ShowLocation::kAllLines || (show == ShowLocation::kDebugLines && head.level == Level::kDebug))) {
    out += " <";
    append_escaped(out, head.origin.file);
    out += ':';
    append_number(out, head.origin.line);
    if (!head.origin.function.empty()) {
      out += " (";
      append_escaped(out, head.origin.function);
      out += ')';
    }
    out += '>';
  }
  if (head.connection != 0 || head.transaction != 0 || !head.plugin.empty()) {
    const char* before = " {";
    if (head.connection != 0) {
      out.append(before).append("c");
      append_number(out, head.connection);
      before = " ";
    }
    if (head.transaction != 0) {
      out.append(before).append("t");
      append_number(out, head.transaction);
      before = " ";
    }
    if (!head.plugin.empty()) {
      out += before;
      append_escaped(out, head.plugin);
    }
    out += '}';
  }
  out += ' ';
  append_escaped(out, text);
  out += '\n';
}

}  // namespace telltale::diag
