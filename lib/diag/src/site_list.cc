// SPDX-License-Identifier: Apache-2.0
#include <telltale/diag/site_list.h>

#include <mutex>
#include <optional>

#include <fmt/format.h>

#include <telltale/diag/output.h>

#include "glob.h"
#include "last_lines.h"
#include "registry.h"
#include "rule_list.h"

namespace telltale::diag {
namespace {

struct Filter {
  const SiteQuery& query;
  std::shared_ptr<const Pattern> tags;

  bool passes(const SiteEntry& entry) const {
    return (query.module.empty() || glob_matches(query.module, entry.module)) &&
           (query.file.empty() || file_glob_matches(query.file, entry.file)) &&
           (query.function.empty() || glob_matches(query.function, entry.function)) &&
           (query.text.empty() || entry.format.find(query.text) != std::string_view::npos) &&
           (tags == nullptr || tags->match(entry.tag->name).outcome == Pattern::Outcome::kMatch);
  }
};

SiteIs state_of(std::uint8_t hot) noexcept {
  if ((hot & kSiteOnForAll) != 0) return SiteIs::kOn;
  if ((hot & kSiteAsksContext) != 0) return SiteIs::kOnForClients;
  if ((hot & kSiteRecords) != 0) return SiteIs::kRecorded;
  return (hot & kSiteCounts) != 0 ? SiteIs::kCounted : SiteIs::kOff;
}

std::string rule_text(const RuleList& list, std::size_t rule) {
  return fmt::format("{}: {}", list.name_of(rule), list.rules[rule].source);
}

SiteReason reason(std::string source, const RuleList& list, const Subject& site, const Lease* lease = nullptr) {
  SiteReason reason{std::move(source), false, {}, {}};
  int error = 0;
  if (auto rule = list.deciding(site, error)) {
    reason.on = !list.rules[*rule].excludes;
    reason.decided = rule_text(list, *rule);
    if (lease != nullptr && *rule + lease->taken_back.size() >= list.rules.size()) {  // its own rules come first
      const Lease::TakenBack& taken = lease->taken_back[*rule + lease->taken_back.size() - list.rules.size()];
      reason.decided += fmt::format(" (taken back at {:.0f} lines/s: the lease may have {})", taken.lines_per_s, lease->max_rate);
    } else if (reason.on && lease != nullptr && lease->sample > 1) {
      reason.decided += fmt::format(" (for 1 of {} transactions)", lease->sample);
    }
  }
  if (reason.on) return reason;
  if (auto near = list.nearest(site)) {
    reason.nearest = rule_text(list, near->rule);
    reason.nearest += ", but not its";
    for (RuleKey key : near->failed) reason.nearest += fmt::format(" {}", rule_key_name(key));
  }
  return reason;
}

std::vector<SiteReason> reasons(const Sources* sources, const Subject& site) {
  std::vector<SiteReason> all;
  if (sources == nullptr || sources->by_number[0].mode == Mode::kOff) {
    all.push_back({"base", false, "proxy.config.diags.debug.enabled is 0", {}});
  } else {
    all.push_back(reason("base", *sources->by_number[0].rules, site));
    if (all.back().on && sources->base.sample > 1) all.back().decided += fmt::format(" (for 1 of {} transactions)", sources->base.sample);
  }
  if (sources == nullptr) return all;
  if (const Source& recorder = sources->by_number[kRecorderSource]; recorder.rules != nullptr) {
    all.push_back(reason("flight recorder", *recorder.rules, site));
  }
  for (const Sources::OpenLease& open : sources->leases) {
    all.push_back(reason(fmt::format("lease {}", open.lease.id), *sources->by_number[open.number].rules, site, &open.lease));
  }
  return all;
}

SiteState describe(const SiteEntry& entry, SiteIs state, bool loaded) {
  return {entry.number,
          entry.history->hash,
          std::string(entry.module),
          std::string(entry.file),
          std::string(entry.function),
          std::string(entry.tag->name),
          std::string(entry.format),
          entry.line,
          state,
          loaded,
          entry.at_run_time,
          entry.history->hits_so_far(),
          last_line(entry.history->number),
          {}};
}

}  // namespace

tl::expected<SiteList, Refusal> sites(const SiteQuery& query) {
  if (query.limit == 0 || query.limit > kSitesPerAnswerMax) {
    return tl::unexpected(
        Refusal{fmt::format("the limit {} is out of range; expected 1 to {}", query.limit, kSitesPerAnswerMax), {}});
  }
  Filter filter{query, nullptr};
  if (!query.tags.empty()) {
    auto pattern = Pattern::compile(query.tags);
    if (!pattern) return tl::unexpected(std::move(pattern.error()));
    filter.tags = std::move(*pattern);
  }
  flush_output(kHitsWaitMax);
  Registry& all = registry();
  std::lock_guard changes(all.changes);  // what is on stays as it is while we look
  const Snapshot now = snapshot();
  const SourceSets sets = all.verdicts.sets();
  SiteList list;
  for (std::uint32_t number = query.after + 1, count = all.sites.size(); number <= count; ++number) {
    const SiteEntry& entry = all.sites.at(number);
    const bool loaded = entry.at_run_time || entry.loaded.load(std::memory_order_relaxed) != 0;
    // A site that was built anew at another line goes on under its newest entry.
    const bool former = !loaded && entry.history->newest.load(std::memory_order_relaxed) != number;
    if (former || (!loaded && !query.unloaded)) continue;
    const SiteIs state =
        loaded ? state_of(Verdicts::hot_bits(sets, all.verdicts.now(entry.matches), false)) : SiteIs::kOff;
    if ((query.on && state != SiteIs::kOn && state != SiteIs::kOnForClients) || !filter.passes(entry)) continue;
    if (list.sites.size() == query.limit) {
      list.next = list.sites.back().number;
      return list;
    }
    list.sites.push_back(describe(entry, state, loaded));
    if (query.why) list.sites.back().why = reasons(now.sources.get(), subject_of(entry));
  }
  return list;
}

}  // namespace telltale::diag
