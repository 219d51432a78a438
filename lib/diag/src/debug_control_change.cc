// SPDX-License-Identifier: Apache-2.0
//
// Tags may appear while we match. So: match all tags there are, take the lock, and if there are more now,
// let it go and match those; tags never leave. Whoever makes a tag does the mirror image (intern_tag):
// match, take the lock, repeat if the epoch moved. One of the two comes second and sees the other.
// (Test: "a tag made during a change ends as the pattern in force says".)
#include "debug_control_change.h"

#include <fmt/format.h>

#include "registry.h"

namespace telltale::diag {
namespace {

using Clock = std::chrono::steady_clock;

Refusal cannot_match(const Tag& tag, int error) {
  return {fmt::format("the pattern cannot be matched against the tag \"{}\": {}; a simpler pattern is needed", tag.name,
                      Pattern::error_text(error)),
          std::nullopt};
}

// The verdict on each tag, by number - 1.
class Matcher {
 public:
  explicit Matcher(const Pattern* pattern) : pattern_(pattern) {}

  std::optional<Refusal> match_up_to(std::uint32_t count) {
    for (std::uint32_t number = static_cast<std::uint32_t>(matched_.size()) + 1; number <= count; ++number) {
      const Tag& tag = registry().tags.at(number);
      Pattern::Result result{Pattern::Outcome::kNoMatch};
      if (pattern_ != nullptr) result = pattern_->match(tag.name);
      if (result.outcome == Pattern::Outcome::kError) {
        registry().match_errors.fetch_add(1, std::memory_order_relaxed);
        return cannot_match(tag, result.error);
      }
      if (Clock::now() > deadline_) {
        return Refusal{fmt::format("matching the pattern against {} tags takes longer than {} ms; a simpler pattern is needed",
                                   count, kMatchTimeMax.count()),
                       std::nullopt};
      }
      matched_.push_back(result.outcome == Pattern::Outcome::kMatch);
    }
    return std::nullopt;
  }
  std::uint32_t count() const noexcept { return static_cast<std::uint32_t>(matched_.size()); }
  bool matched(std::uint32_t number) const noexcept { return matched_[number - 1]; }

  std::vector<const Tag*> tags() const {
    std::vector<const Tag*> tags;
    for (std::uint32_t number = 1; number <= count(); ++number) {
      if (matched(number)) tags.push_back(&registry().tags.at(number));
    }
    return tags;
  }

 private:
  const Pattern* pattern_;
  Clock::time_point deadline_ = Clock::now() + kMatchTimeMax;
  std::vector<bool> matched_;
};

// REQUIRES: the registry's lock is held, and `matcher` knows every tag. Memory writes only.
void put_in_force(const SourcesChange& change, const SourceSets& sets, const Matcher& matcher) noexcept {
  Registry& all = registry();
  std::uint64_t fresh_bit = change.fresh ? std::uint64_t{1} << *change.fresh : 0;
  for (std::uint32_t number = 1; number <= matcher.count(); ++number) {
    Tag& tag = all.tags.at(number);
    all.verdicts.stage(tag, (all.verdicts.matches(tag) & change.kept) | (matcher.matched(number) ? fresh_bit : 0));
  }
  all.verdicts.stage(sets);
  ClientFilterTable& clients = all.verdicts.next_clients();
  clients.clear();
  for (unsigned i = 0; i < kSourcesMax; ++i) clients.add(i, change.next->by_number[i].clients);
  all.verdicts.switch_epoch();
  all.walk();
}

}  // namespace

tl::expected<std::vector<const Tag*>, Refusal> apply(SourcesChange change) {
  Registry& all = registry();
  Matcher matcher(change.fresh ? change.next->by_number[*change.fresh].pattern.get() : nullptr);
  const SourceSets sets = change.next->sets();
  for (;;) {
    if (auto refusal = matcher.match_up_to(all.tags.size())) return tl::unexpected(std::move(*refusal));
    RegistryLock guard;
    if (all.tags.size() != matcher.count()) continue;
    put_in_force(change, sets, matcher);
    all.sources.swap(change.next);  // the former ones are freed after the lock
    break;
  }
  return matcher.tags();
}

}  // namespace telltale::diag
