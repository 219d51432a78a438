// SPDX-License-Identifier: Apache-2.0
#pragma once
// RuleList: the rules of one source (base or lease), and what they say of a site or a tag.
//
// **Thread safety:** immutable. Matching allocates (PCRE2): never with a lock held.

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "rule.h"

namespace telltale::diag {

// What rules say of a tag before the place of the call is known.
struct TagVerdict {
  bool may = false;       // on at some place at least, as far as the tag decides
  bool by_place = false;  // the place decides
};

struct RuleList {
  std::vector<Rule> rules;
  bool tags_first = false;  // the first rule is the pattern of tags

  // The number of the rule that decides, from 0; nothing matches: none. Sets `error` if a match ended in one.
  std::optional<std::size_t> deciding(const Subject& subject, int& error) const;
  bool on(const Subject& subject, int& error) const {
    auto rule = deciding(subject, error);
    return rule && !rules[*rule].excludes;
  }
  TagVerdict on_tag(std::string_view tag, int& error) const;

  // The including rule that comes nearest to matching without doing so: that with the most keys that
  // match, the later one of two. `failed` are its keys that do not match.
  struct Near {
    std::size_t rule;
    std::vector<RuleKey> failed;
  };
  std::optional<Near> nearest(const Subject& subject) const;

  // "tags", "rule 2": as an operator counts them.
  std::string name_of(std::size_t rule) const;
};

}  // namespace telltale::diag
