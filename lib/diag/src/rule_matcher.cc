// SPDX-License-Identifier: Apache-2.0
#include "rule_matcher.h"

#include <fmt/format.h>

#include "registry.h"
#include "word_table.h"

namespace telltale::diag {
namespace {

using Clock = std::chrono::steady_clock;

// Tags are matched in full before any site is: a pattern that cannot be matched refuses the change.
Refusal cannot_match(const Tag& tag, int error) {
  return {fmt::format("the pattern cannot be matched against the tag \"{}\": {}; a simpler pattern is needed", tag.name,
                      Pattern::error_text(error)),
          std::nullopt};
}

Refusal takes_too_long(std::uint32_t tags, std::uint32_t sites) {
  return {
      fmt::format("matching against {} tags and {} sites takes too long; simpler patterns or fewer rules are needed",
                  tags, sites),
      std::nullopt};
}

}  // namespace

RuleMatcher::RuleMatcher(const RuleList* list, std::chrono::steady_clock::time_point deadline)
    : list_(list), deadline_(deadline) {
  if (list == nullptr) return;
  for (const Rule& rule : list->rules) {
    answers_.push_back(
        {rule.has(RuleKey::kFile), rule.has(RuleKey::kFunction), rule.has(RuleKey::kModule), {}, {}, {}, {}});
  }
}

std::optional<Refusal> RuleMatcher::match_up_to(std::uint32_t tags, std::uint32_t sites) {
  tags_.reserve(tags);
  sites_.reserve(sites);
  for (std::uint32_t number = this->tags() + 1; number <= tags; ++number) {
    if (auto refusal = match_tag(number)) return refusal;
    if (Clock::now() > deadline_) return takes_too_long(tags, sites);
  }
  std::size_t words = registry().words.size();
  for (Answers& answers : answers_) {
    if (answers.asks_file) answers.files.resize(words, kUnknown);
    if (answers.asks_function) answers.functions.resize(words, kUnknown);
    if (answers.asks_module) answers.modules.resize(words, kUnknown);
  }
  for (std::uint32_t number = this->sites() + 1; number <= sites; ++number) {
    sites_.push_back(list_ != nullptr && decide(registry().sites.at(number)));
    if (number % 256 == 0 && Clock::now() > deadline_) return takes_too_long(tags, sites);
  }
  return std::nullopt;
}

// As RuleList::on_tag(), but keeps each rule's answer for the sites, and does not stop at the first.
std::optional<Refusal> RuleMatcher::match_tag(std::uint32_t number) {
  TagVerdict verdict;
  if (list_ == nullptr) {
    tags_.push_back(verdict);
    return std::nullopt;
  }
  const Tag& tag = registry().tags.at(number);
  bool decided = false;
  for (std::size_t i = list_->rules.size(); i-- > 0;) {
    const Rule& rule = list_->rules[i];
    int error = 0;
    bool matches = !rule.has(RuleKey::kTag) || rule.matches(RuleKey::kTag, {.tag = tag.name}, error);
    if (error != 0) {
      registry().match_errors.fetch_add(1, std::memory_order_relaxed);
      return cannot_match(tag, error);
    }
    answers_[i].tags.push_back(matches ? kYes : kNo);
    if (!matches || decided) continue;
    if (!rule.excludes) verdict.may = true;
    if (rule.names_a_place()) {
      verdict.by_place = true;
    } else {
      decided = true;
    }
  }
  verdict.by_place = verdict.by_place && verdict.may;
  tags_.push_back(verdict);
  return std::nullopt;
}

bool RuleMatcher::decide(const SiteEntry& site) {
  const TagVerdict& tag = tags_[site.tag_number - 1];
  if (!tag.by_place) return tag.may;
  for (std::size_t i = list_->rules.size(); i-- > 0;) {
    if (matches(i, site)) return !list_->rules[i].excludes;
  }
  return false;
}

bool RuleMatcher::matches(std::size_t i, const SiteEntry& site) {
  const Rule& rule = list_->rules[i];
  Answers& answers = answers_[i];
  if (answers.tags[site.tag_number - 1] == kNo) return false;
  if (rule.first_line != 0 && (site.line < rule.first_line || site.line > rule.last_line)) return false;
  auto word_matches = [&rule](RuleKey key, Answer& answer, const Subject& subject) {
    int error = 0;
    if (answer == kUnknown) answer = rule.matches(key, subject, error) ? kYes : kNo;
    return answer == kYes;
  };
  return (!answers.asks_module ||
          word_matches(RuleKey::kModule, answers.modules[site.module_word - 1], {.module = site.module})) &&
         (!answers.asks_file || word_matches(RuleKey::kFile, answers.files[site.file_word - 1], {.file = site.file})) &&
         (!answers.asks_function ||
          word_matches(RuleKey::kFunction, answers.functions[site.function_word - 1], {.function = site.function})) &&
         (!rule.text || site.format.find(*rule.text) != std::string_view::npos);
}

}  // namespace telltale::diag
