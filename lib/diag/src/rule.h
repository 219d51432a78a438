// SPDX-License-Identifier: Apache-2.0
#pragma once
// Rules: which sites are on. A list of them; the last rule that matches a site decides.
//
//   rules:  rule (';' or line end) rule ...        empty ones are skipped
//   rule:   ['-'] KEY=VALUE KEY=VALUE ...          '-' switches off what matches, without it on
//   KEY:    tag (pattern, at the start of the tag) file function module (globs) line (N or N-M) text (substring)
//   VALUE:  up to a blank, ';' or line end; or in double quotes, where \" and \\ stand for what follows
//           their backslash
//
// All keys of a rule have to match; each may stand once. A pattern or base of tags is the list's first rule.
//
// **Thread safety:** immutable once parsed.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include <telltale/diag/debug_control.h>

#include "pattern.h"

namespace telltale::diag {

// What a rule is matched against: a site, or a call that names its tag at run time.
struct Subject {
  std::string_view tag, file, function, module, text;
  std::uint32_t line = 0;
};

enum class RuleKey : std::uint8_t { kTag, kFile, kFunction, kLine, kModule, kText };
inline constexpr std::size_t kRuleKeys = 6;
std::string_view rule_key_name(RuleKey key) noexcept;

struct Rule {
  bool excludes = false;
  std::shared_ptr<const Pattern> tag;  // null: no such key, here and below
  std::optional<std::string> file, function, module, text;
  std::uint32_t first_line = 0, last_line = 0;  // 0: no such key
  std::string source;                           // as written

  bool has(RuleKey key) const noexcept;
  // REQUIRES: has(key). A match of the tag that ends in an error is none, and sets `error`.
  bool matches(RuleKey key, const Subject& subject, int& error) const;
  bool names_a_place() const noexcept { return file || function || module || text || first_line != 0; }
};

// The rule for a pattern of tags alone. Errors: check_tag_pattern()'s.
tl::expected<Rule, Refusal> tag_rule(std::string_view pattern);

// Errors: name the rule by its number, from 1, and what was expected; the offset counts in `text`.
tl::expected<std::vector<Rule>, Refusal> parse_rules(std::string_view text);

}  // namespace telltale::diag
