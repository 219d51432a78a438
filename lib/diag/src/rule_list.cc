// SPDX-License-Identifier: Apache-2.0
#include "rule_list.h"

#include <fmt/format.h>

namespace telltale::diag {
namespace {

constexpr RuleKey kCheapestFirst[kRuleKeys] = {RuleKey::kLine,     RuleKey::kModule, RuleKey::kFile,
                                               RuleKey::kFunction, RuleKey::kText,   RuleKey::kTag};

bool matches(const Rule& rule, const Subject& subject, int& error) {
  for (RuleKey key : kCheapestFirst) {
    if (rule.has(key) && !rule.matches(key, subject, error)) return false;
  }
  return true;
}

}  // namespace

std::optional<std::size_t> RuleList::deciding(const Subject& subject, int& error) const {
  for (std::size_t i = rules.size(); i-- > 0;) {
    if (matches(rules[i], subject, error)) return i;
  }
  return std::nullopt;
}

TagVerdict RuleList::on_tag(std::string_view tag, int& error) const {
  TagVerdict verdict;
  for (std::size_t i = rules.size(); i-- > 0;) {
    const Rule& rule = rules[i];
    if (rule.has(RuleKey::kTag) && !rule.matches(RuleKey::kTag, {.tag = tag}, error)) continue;
    if (!rule.excludes) verdict.may = true;
    if (!rule.names_a_place()) break;
    verdict.by_place = true;
  }
  verdict.by_place = verdict.by_place && verdict.may;
  return verdict;
}

std::optional<RuleList::Near> RuleList::nearest(const Subject& subject) const {
  std::optional<Near> best;
  std::size_t best_matched = 0;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (rules[i].excludes) continue;
    Near near{i, {}};
    std::size_t matched = 0;
    int error = 0;
    for (std::size_t k = 0; k < kRuleKeys; ++k) {
      auto key = static_cast<RuleKey>(k);
      if (!rules[i].has(key)) continue;
      if (rules[i].matches(key, subject, error)) {
        ++matched;
      } else {
        near.failed.push_back(key);
      }
    }
    if (near.failed.empty() || (best && matched < best_matched)) continue;
    best = std::move(near);
    best_matched = matched;
  }
  return best;
}

std::string RuleList::name_of(std::size_t rule) const {
  if (tags_first && rule == 0) return "tags";
  return fmt::format("rule {}", tags_first ? rule : rule + 1);
}

}  // namespace telltale::diag
