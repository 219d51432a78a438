// SPDX-License-Identifier: Apache-2.0
#include "config/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>

namespace telltale::config {

std::string to_string(const Problem& problem) {
  std::string out;
  if (!problem.file.empty()) {
    out = problem.file;
    if (problem.line > 0) fmt::format_to(std::back_inserter(out), ":{}", problem.line);
    if (problem.line > 0 && problem.column > 0)
      fmt::format_to(std::back_inserter(out), ":{}", problem.column);
    out += ": ";
  }
  out += problem.what;
  if (!problem.expected.empty()) {
    out += "; expected ";
    out += problem.expected;
  }
  return out;
}

std::string quote(std::string_view text) {
  std::string out = "\"";
  const bool cut = text.size() > kQuotedBytesMax;
  if (cut) {
    // Never half a UTF-8 character: the cut moves to the start of the one it would go through.
    std::size_t end = kQuotedBytesMax;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80)
      --end;
    text = text.substr(0, end);
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    // C1 control characters are 0xC2 0x80 to 0xC2 0x9F in UTF-8; terminals obey them as they obey ESC.
    const bool c1 = byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if (byte == '"' || byte == '\\') {
      out += '\\';
      out += text[i];
    } else if (byte < 0x20 || byte == 0x7F) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", byte);
    } else if (c1) {
      ++i;
      fmt::format_to(std::back_inserter(out), "\\xc2\\x{:02x}", static_cast<unsigned char>(text[i]));
    } else {
      out += text[i];
    }
  }
  out += cut ? "\"..." : "\"";
  return out;
}

void ProblemList::add(int line, int column, std::string what, std::string expected) {
  if (problems_.size() >= kProblemsMax) {
    ++not_shown_;
    return;
  }
  problems_.push_back({file_, line, column, std::move(what), std::move(expected)});
}

Problems ProblemList::take() {
  std::stable_sort(problems_.begin(), problems_.end(), [](const Problem& a, const Problem& b) {
    return std::tie(a.line, a.column) < std::tie(b.line, b.column);
  });
  if (not_shown_ > 0) {
    problems_.push_back({file_, 0, 0, fmt::format("{} further problems are not shown", not_shown_), {}});
    not_shown_ = 0;
  }
  return std::move(problems_);
}

}  // namespace telltale::config
