// SPDX-License-Identifier: Apache-2.0
#include "hint/near_names.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace telltale::hint {

namespace {

constexpr std::size_t kContainedBytesMin = 3;
constexpr std::size_t kLastPartBytesMin = 8;
constexpr std::size_t kFar = 1000;  // added where only a part is equal: after every misspelling

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

// What is left of an alternative without the signs of the pattern language.
std::string literal_text(std::string_view alternative) {
  std::string text = lower_case(alternative);
  std::erase_if(text, [](char c) { return !((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-'); });
  return text;
}

std::string_view last_part(std::string_view name) {
  std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : name.substr(dot + 1);
}

// How far a name is from a text; nothing: too far to be worth a hint.
std::optional<std::size_t> nearness(std::string_view text, std::string_view name) {
  std::size_t distance = edit_distance(text, name);
  std::size_t longer = std::max(text.size(), name.size());
  std::size_t most = longer <= 12 ? std::max<std::size_t>(1, longer / 3) : std::max<std::size_t>(4, longer / 6);
  if (distance <= most) return distance;
  if (text.size() >= kContainedBytesMin && name.find(text) != std::string_view::npos) return kFar + distance;
  std::string_view part = last_part(text);
  if (part.size() >= kLastPartBytesMin && part == last_part(name)) return kFar + distance;
  return std::nullopt;
}

// `texts` in lower case.
std::vector<std::string> near_any(const std::vector<std::string>& texts, const std::vector<std::string>& names) {
  std::vector<std::pair<std::size_t, std::string>> found;
  for (const std::string& name : names) {
    if (name.size() > kNearTextBytesMax) continue;
    std::string lower = lower_case(name);
    std::optional<std::size_t> nearest;
    for (const std::string& text : texts) {
      auto distance = nearness(text, lower);
      if (distance && (!nearest || *distance < *nearest)) nearest = distance;
    }
    if (nearest) found.emplace_back(*nearest, name);
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> near;
  for (auto& [distance, name] : found) {
    if (near.size() == kNearNamesMax) break;
    near.push_back(std::move(name));
  }
  return near;
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the table are enough for swaps (optimal string alignment).
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

std::vector<std::string> near_names(std::string_view text, const std::vector<std::string>& names) {
  if (text.empty() || text.size() > kNearTextBytesMax) return {};
  return near_any({lower_case(text)}, names);
}

std::vector<std::string> near_pattern(std::string_view pattern, const std::vector<std::string>& names) {
  std::vector<std::string> texts;
  while (!pattern.empty() && texts.size() < kNearAlternativesMax) {
    std::size_t bar = pattern.find('|');
    std::string_view alternative = pattern.substr(0, bar);
    std::string text = alternative.size() <= kNearTextBytesMax ? literal_text(alternative) : std::string();
    if (!text.empty()) texts.push_back(std::move(text));
    pattern.remove_prefix(bar == std::string_view::npos ? pattern.size() : bar + 1);
  }
  return near_any(texts, names);
}

std::string did_you_mean(const std::vector<std::string>& names) {
  if (names.empty()) return {};
  std::string sentence = "did you mean ";
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) sentence += i + 1 == names.size() ? " or " : ", ";
    sentence += names[i];
  }
  return sentence += '?';
}

}  // namespace telltale::hint
