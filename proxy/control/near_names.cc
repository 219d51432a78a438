// SPDX-License-Identifier: Apache-2.0
#include "control/near_names.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <telltale/diag/tag.h>

namespace telltale::control {

namespace {

std::string literal_text(std::string_view alternative) {
  std::string text;
  for (char c : alternative) {
    bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    if (c >= 'A' && c <= 'Z') {
      text += static_cast<char>(c - 'A' + 'a');
    } else if (letter) {
      text += c;
    }
  }
  return text;
}

// How far a name is from a text; nothing: too far to be worth a hint.
std::optional<std::size_t> nearness(std::string_view text, std::string_view name) {
  std::size_t distance = edit_distance(text, name);
  std::size_t most = std::max<std::size_t>(1, std::max(text.size(), name.size()) / 3);
  if (distance <= most) return distance;
  // Further than any misspelling, but worth showing: "hdrs" for "http_hdrs".
  if (text.size() >= 3 && name.find(text) != std::string_view::npos) return diag::kTagBytesMax + distance;
  return std::nullopt;
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

std::vector<std::string> near_names(std::string_view pattern, const std::vector<std::string>& names) {
  std::vector<std::string> texts;
  while (!pattern.empty() && texts.size() < kNearAlternativesMax) {
    std::size_t bar = pattern.find('|');
    std::string text = literal_text(pattern.substr(0, bar));
    if (!text.empty() && text.size() <= diag::kTagBytesMax) texts.push_back(std::move(text));
    pattern.remove_prefix(bar == std::string_view::npos ? pattern.size() : bar + 1);
  }
  std::vector<std::pair<std::size_t, std::string>> found;
  for (const std::string& name : names) {
    std::string lower = literal_text(name);
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

}  // namespace telltale::control
