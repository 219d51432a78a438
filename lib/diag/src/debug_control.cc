// SPDX-License-Identifier: Apache-2.0
#include <telltale/diag/debug_control.h>

#include <algorithm>
#include <mutex>

#include <fmt/format.h>

#include <telltale/diag/output.h>

#include "change_sources.h"
#include "client_filter.h"
#include "debug_control_change.h"
#include "preview.h"
#include "registry.h"
#include "string_tag.h"

namespace telltale::diag {

std::shared_ptr<Sources> copy_of_sources() {
  Snapshot now = snapshot();
  return now.sources == nullptr ? std::make_shared<Sources>() : std::make_shared<Sources>(*now.sources);
}

std::optional<Refusal> check_sample(std::uint32_t sample) {
  if (sample >= 1 && sample <= kSampleMost) return std::nullopt;
  return Refusal{fmt::format("the sample 1/{} does not exist; expected 1/1 to 1/{}", sample, kSampleMost), std::nullopt};
}

std::optional<Refusal> check_client_blocks(const Sources& sources) {
  if (sources.client_blocks() <= kClientBlocksMax) return std::nullopt;
  return Refusal{fmt::format("the client lists of the base and all leases are longer than {} addresses together", kClientBlocksMax),
                 std::nullopt};
}

tl::expected<std::shared_ptr<const RuleList>, Refusal> compile_rules(std::string_view tags, std::string_view rules) {
  auto list = std::make_shared<RuleList>();
  auto parsed = parse_rules(rules);
  if (!parsed) return tl::unexpected(std::move(parsed.error()));
  if (tags.empty() && parsed->empty() && !rules.empty()) {
    return tl::unexpected(Refusal{"there is no rule in the text of rules; expected [-]KEY=VALUE ...", std::nullopt});
  }
  if (!tags.empty() || parsed->empty()) {
    auto first = tag_rule(tags);
    if (!first) return tl::unexpected(std::move(first.error()));
    list->tags_first = true;
    list->rules.push_back(std::move(*first));
  }
  for (Rule& rule : *parsed) list->rules.push_back(std::move(rule));
  return list;
}

std::optional<Refusal> check_tag_pattern(std::string_view pattern) {
  auto compiled = Pattern::compile(pattern);
  if (compiled) return std::nullopt;
  return std::move(compiled.error());
}

std::optional<Refusal> check_rules(std::string_view rules) {
  auto parsed = parse_rules(rules);
  if (parsed) return std::nullopt;
  return std::move(parsed.error());
}

std::optional<Refusal> check_client_list(std::string_view list) {
  auto blocks = parse_client_list(list);
  if (blocks) return std::nullopt;
  return std::move(blocks.error());
}

tl::expected<void, Refusal> set_base(const Base& base) {
  if (base.mode > Mode::kOnControlsOnly) {
    return tl::unexpected(Refusal{fmt::format("the mode {} does not exist; expected 0, 1, 2 or 3", static_cast<unsigned>(base.mode)),
                                  std::nullopt});
  }
  std::lock_guard changes(registry().changes);
  std::shared_ptr<Sources> next = copy_of_sources();
  if (next->base == base) return {};

  Source& source = next->by_number[0];
  const bool fresh = next->base.tags != base.tags || next->base.rules != base.rules;
  if (fresh || base.mode != Mode::kOff) {
    if (base.tags.empty() && base.rules.empty() && base.mode == Mode::kOff) {
      source.rules = nullptr;
    } else if (fresh || source.rules == nullptr) {
      auto rules = compile_rules(base.tags, base.rules);
      if (!rules) return tl::unexpected(std::move(rules.error()));
      source.rules = std::move(*rules);
    }
  }
  auto clients = parse_client_list(base.client_ip);
  if (!clients) return tl::unexpected(std::move(clients.error()));
  source.clients = std::move(*clients);
  if (auto refusal = check_sample(base.sample)) return tl::unexpected(std::move(*refusal));
  source.mode = base.mode;
  source.sample = base.sample;
  next->base = base;
  if (auto refusal = check_client_blocks(*next)) return tl::unexpected(std::move(*refusal));

  std::uint64_t kept = fresh ? ~source_bit(0) : ~std::uint64_t{0};
  auto applied = apply({next, kept, fresh ? std::optional(0u) : std::nullopt});
  if (!applied) return tl::unexpected(std::move(applied.error()));
  return {};
}

Base base() {
  Snapshot now = snapshot();
  return now.sources == nullptr ? Base{} : now.sources->base;
}

std::size_t all_off() {
  std::lock_guard changes(registry().changes);
  Snapshot now = snapshot();
  std::size_t leases = now.sources == nullptr ? 0 : now.sources->leases.size();
  auto next = std::make_shared<Sources>();
  next->base.mode = Mode::kOff;
  if (now.sources != nullptr) {  // tags and rules stay what they are, for mode 1 to come
    next->base.tags = now.sources->base.tags;
    next->base.rules = now.sources->base.rules;
    next->base.client_ip = now.sources->base.client_ip;
    next->base.sample = now.sources->base.sample;
    next->by_number[0] = now.sources->by_number[0];
    next->by_number[0].mode = Mode::kOff;
    next->recorder_tags = now.sources->recorder_tags;  // puts nothing out
    next->by_number[kRecorderSource] = now.sources->by_number[kRecorderSource];
  }
  (void)apply({next, kLasting, std::nullopt});  // matches nothing new, so nothing can refuse
  if (now.sources != nullptr) {
    for (const Sources::OpenLease& open : now.sources->leases) {
      if (open.lease.kind == LeaseKind::kCount) note_preview_end(open.lease.id, std::chrono::steady_clock::now());
    }
  }
  return leases;
}

std::vector<TagState> tags() {
  flush_output(kHitsWaitMax);
  Registry& all = registry();
  std::vector<TagState> states;
  SourceSets sets;
  {
    std::lock_guard changes(all.changes);  // what is on stays as it is while we look
    sets = all.verdicts.sets();
    const std::uint64_t for_all = (sets.for_controls | sets.for_strings) & ~sets.count_only & ~sets.sampled;
    const std::uint64_t sampled = (sets.for_controls | sets.for_strings) & sets.sampled;
    const std::uint64_t for_clients = ((sets.for_clients | sampled) & ~sets.count_only) | sets.for_followed;
    auto add = [&](TagState& state, std::uint64_t matches) {
      bool all_of_it = (matches & for_all) != 0, some = (matches & for_clients) != 0;
      if (all_of_it) state.clients_only = false;
      if (some && !all_of_it && !state.on) state.clients_only = true;
      state.on = state.on || all_of_it || some;
    };
    for (std::uint32_t number = 1, count = all.tags.size(); number <= count; ++number) {
      const Tag& tag = all.tags.at(number);
      states.push_back({std::string(tag.name), false, false, 0, tag.hits.load(std::memory_order_relaxed)});
      add(states.back(), all.verdicts.now(tag.matches) & ~all.verdicts.now(tag.by_place));
    }
    for (std::uint32_t number = 1, count = all.sites.size(); number <= count; ++number) {
      const SiteEntry& entry = all.sites.at(number);
      if (entry.tag->number > states.size()) continue;  // newer than the list
      TagState& state = states[entry.tag->number - 1];
      bool loaded = entry.loaded.load(std::memory_order_relaxed) != 0;
      if (loaded) ++state.sites;
      if (loaded || entry.at_run_time) add(state, all.verdicts.now(entry.matches));
    }
  }
  for (std::uint32_t number = 1, count = all.histories.size(); number <= count; ++number) {
    const SiteHistory& history = all.histories.at(number);
    if (history.tag->number <= states.size()) states[history.tag->number - 1].hits += history.hits_so_far();
  }
  std::sort(states.begin(), states.end(), [](const TagState& a, const TagState& b) { return a.name < b.name; });
  return states;
}

ControlCounters control_counters() {
  Registry& all = registry();
  return {string_tags_uncached(), all.match_errors.load(std::memory_order_relaxed), all.walks.load(std::memory_order_relaxed)};
}

}  // namespace telltale::diag
