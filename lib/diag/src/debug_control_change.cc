// SPDX-License-Identifier: Apache-2.0
//
// Tags and sites may appear while we match. So: match all there are, take the lock, and if there are more
// now, let it go and match those; they never leave. Whoever makes one does the mirror image (intern_tag,
// intern_site): match, take the lock, repeat if the epoch moved. One of the two comes second and sees the
// other. (Tests: "a tag made during a change ends as the pattern in force says", "a module loaded during".)
#include "debug_control_change.h"

#include <algorithm>

#include "registry.h"
#include "ring_table.h"
#include "rule_matcher.h"

namespace telltale::diag {
namespace {

// REQUIRES: the registry's lock is held, and `matcher` knows every tag and site. Memory writes only.
void put_in_force(const SourcesChange& change, const SourceSets& sets, const RuleMatcher& matcher) noexcept {
  Registry& all = registry();
  std::uint64_t fresh_bit = change.fresh ? std::uint64_t{1} << *change.fresh : 0;
  auto stage = [&](SourceBits& bits, bool fresh) {
    all.verdicts.stage(bits, (all.verdicts.now(bits) & change.kept) | (fresh ? fresh_bit : 0));
  };
  for (std::uint32_t number = 1; number <= matcher.tags(); ++number) {
    Tag& tag = all.tags.at(number);
    stage(tag.matches, matcher.tag(number).may);
    stage(tag.by_place, matcher.tag(number).by_place);
  }
  for (std::uint32_t number = 1; number <= matcher.sites(); ++number) stage(all.sites.at(number).matches, matcher.site(number));
  all.verdicts.stage(sets);
  ClientFilterTable& clients = all.verdicts.next_clients();
  clients.clear();
  for (unsigned i = 0; i < kSourcesMax; ++i) clients.add(i, change.next->by_number[i].clients);
  RouteBits outputs = 0;
  for (const Sources::OpenLease& open : change.next->leases) outputs = static_cast<RouteBits>(outputs | open.lease.to);
  all.meters.outputs.store(outputs, std::memory_order_relaxed);
  ring_table().forget_plain();  // sites ask until all are written
  all.verdicts.switch_epoch();
  all.walk();
}

Applied what_is_on(const RuleMatcher& matcher) {
  Applied applied;
  std::vector<bool> on(matcher.tags());  // by number - 1
  for (std::uint32_t number = 1; number <= matcher.tags(); ++number) {
    on[number - 1] = matcher.tag(number).may && !matcher.tag(number).by_place;
  }
  for (std::uint32_t number = 1; number <= matcher.sites(); ++number) {
    const SiteEntry& site = registry().sites.at(number);
    if (!matcher.site(number) || (!site.at_run_time && site.loaded.load(std::memory_order_relaxed) == 0)) continue;
    ++applied.sites_on;
    on[site.tag_number - 1] = true;
  }
  for (std::uint32_t number = 1; number <= matcher.tags(); ++number) {
    if (on[number - 1]) applied.tags_on.emplace_back(registry().tags.at(number).name);
  }
  std::sort(applied.tags_on.begin(), applied.tags_on.end());
  return applied;
}

}  // namespace

tl::expected<Applied, Refusal> apply(SourcesChange change) {
  Registry& all = registry();
  RuleMatcher matcher(change.fresh ? change.next->by_number[*change.fresh].rules.get() : nullptr,
                      std::chrono::steady_clock::now() + kMatchTimeMax);
  const SourceSets sets = change.next->sets();
  for (;;) {
    // Sites first: the tags of those are in the table by then.
    std::uint32_t sites = all.sites.size();
    if (auto refusal = matcher.match_up_to(all.tags.size(), sites)) return tl::unexpected(std::move(*refusal));
    RegistryLock guard;
    if (all.tags.size() != matcher.tags() || all.sites.size() != matcher.sites()) continue;
    put_in_force(change, sets, matcher);
    all.sources.swap(change.next);  // the former ones are freed after the lock
    break;
  }
  if (!change.fresh) return Applied{};
  return what_is_on(matcher);
}

}  // namespace telltale::diag
