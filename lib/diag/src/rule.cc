// SPDX-License-Identifier: Apache-2.0
#include "rule.h"

#include "glob.h"

namespace telltale::diag {

std::string_view rule_key_name(RuleKey key) noexcept {
  constexpr std::string_view kNames[kRuleKeys] = {"tag", "file", "function", "line", "module", "text"};
  return kNames[static_cast<std::size_t>(key)];
}

bool Rule::has(RuleKey key) const noexcept {
  switch (key) {
    case RuleKey::kTag:
      return tag != nullptr;
    case RuleKey::kFile:
      return file.has_value();
    case RuleKey::kFunction:
      return function.has_value();
    case RuleKey::kLine:
      return first_line != 0;
    case RuleKey::kModule:
      return module.has_value();
    case RuleKey::kText:
      return text.has_value();
  }
  return false;
}

bool Rule::matches(RuleKey key, const Subject& subject, int& error) const {
  switch (key) {
    case RuleKey::kTag: {
      Pattern::Result result = tag->match(subject.tag);
      if (result.outcome == Pattern::Outcome::kError) error = result.error;
      return result.outcome == Pattern::Outcome::kMatch;
    }
    case RuleKey::kFile:
      return file_glob_matches(*file, subject.file);
    case RuleKey::kFunction:
      return glob_matches(*function, subject.function);
    case RuleKey::kLine:
      return subject.line >= first_line && subject.line <= last_line;
    case RuleKey::kModule:
      return glob_matches(*module, subject.module);
    case RuleKey::kText:
      return subject.text.find(*text) != std::string_view::npos;
  }
  return false;
}

tl::expected<Rule, Refusal> tag_rule(std::string_view pattern) {
  auto compiled = Pattern::compile(pattern);
  if (!compiled) return tl::unexpected(std::move(compiled.error()));
  Rule rule;
  rule.tag = std::move(*compiled);
  rule.source = "tag=";
  rule.source += pattern;
  return rule;
}

}  // namespace telltale::diag
