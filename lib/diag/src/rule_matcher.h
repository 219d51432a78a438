// SPDX-License-Identifier: Apache-2.0
#pragma once
// RuleMatcher: one list of rules against every tag and site there is, for one change.
//
// Tags, files, functions and modules are few where sites are many: each rule is matched once against each
// of those words, and a site puts the answers together. (Test: "5,000 sites and 600 tags".)
//
// **Thread safety:** thread-compatible. Used without a lock; what it has computed is read under it.

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include <telltale/diag/refusal.h>

#include "rule_list.h"
#include "site_dictionary.h"
#include "tag_table.h"

namespace telltale::diag {

class RuleMatcher {
 public:
  // Null: matches nothing. `deadline`: a change that is not through then is refused.
  RuleMatcher(const RuleList* list, std::chrono::steady_clock::time_point deadline);

  // Matches what is new up to these numbers. Errors: a match that ended in an error, the deadline.
  std::optional<Refusal> match_up_to(std::uint32_t tags, std::uint32_t sites);

  std::uint32_t tags() const noexcept { return static_cast<std::uint32_t>(tags_.size()); }
  std::uint32_t sites() const noexcept { return static_cast<std::uint32_t>(sites_.size()); }
  const TagVerdict& tag(std::uint32_t number) const noexcept { return tags_[number - 1]; }
  bool site(std::uint32_t number) const noexcept { return sites_[number - 1]; }

 private:
  enum Answer : std::int8_t { kUnknown = -1, kNo = 0, kYes = 1 };
  struct Answers {  // of one rule
    bool asks_file, asks_function, asks_module;
    std::vector<Answer> tags, files, functions, modules;  // by number - 1
  };
  std::optional<Refusal> match_tag(std::uint32_t number);
  bool decide(const SiteEntry& site);
  bool matches(std::size_t rule, const SiteEntry& site);

  const RuleList* list_;
  std::chrono::steady_clock::time_point deadline_;
  std::vector<Answers> answers_;
  std::vector<TagVerdict> tags_;
  std::vector<bool> sites_;
};

}  // namespace telltale::diag
