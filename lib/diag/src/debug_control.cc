// SPDX-License-Identifier: Apache-2.0
#include <telltale/diag/debug_control.h>

#include <algorithm>
#include <mutex>

#include <fmt/format.h>

#include "client_filter.h"
#include "debug_control_change.h"
#include "pattern.h"
#include "registry.h"
#include "string_tag.h"

namespace telltale::diag {
namespace {

constexpr std::uint64_t bit(unsigned source) noexcept { return std::uint64_t{1} << source; }

// Guarded by Registry::changes.
constinit std::uint64_t last_lease_id = 0;

std::shared_ptr<Sources> copy_of_sources() {
  Snapshot now = snapshot();
  return now.sources == nullptr ? std::make_shared<Sources>() : std::make_shared<Sources>(*now.sources);
}

std::optional<Refusal> check_client_blocks(const Sources& sources) {
  if (sources.client_blocks() <= kClientBlocksMax) return std::nullopt;
  return Refusal{fmt::format("the client lists of the base and all leases are longer than {} addresses together", kClientBlocksMax),
                 std::nullopt};
}

// Number for a further lease; empty: all are taken.
std::optional<unsigned> free_number(const Sources& sources) {
  for (unsigned number = 1; number < kSourcesMax; ++number) {
    if (sources.by_number[number].mode == Mode::kOff) return number;
  }
  return std::nullopt;
}

void close_leases(Sources& sources) {
  for (const Sources::OpenLease& open : sources.leases) sources.by_number[open.number] = Source{};
  sources.leases.clear();
}

tl::expected<Source, Refusal> compile(const LeaseRequest& request) {
  auto pattern = Pattern::compile(request.tags);
  if (!pattern) return tl::unexpected(std::move(pattern.error()));
  auto clients = parse_client_list(request.client_ip);
  if (!clients) return tl::unexpected(std::move(clients.error()));
  if (clients->empty() && !request.client_ip.empty()) {
    return tl::unexpected(Refusal{"the client list names no address; leave it out to mean all clients", std::size_t{0}});
  }
  Mode mode = clients->empty() ? Mode::kOn : Mode::kOnForClients;
  return Source{mode, std::move(*pattern), std::move(*clients)};
}

std::vector<std::string> sorted_names(const std::vector<const Tag*>& tags) {
  std::vector<std::string> names;
  for (const Tag* tag : tags) names.emplace_back(tag->name);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

std::optional<Refusal> check_tag_pattern(std::string_view pattern) {
  auto compiled = Pattern::compile(pattern);
  if (compiled) return std::nullopt;
  return std::move(compiled.error());
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
  const bool fresh = next->base.tags != base.tags;
  if (fresh || base.mode != Mode::kOff) {
    if (base.tags.empty() && base.mode == Mode::kOff) {
      source.pattern = nullptr;
    } else if (fresh || source.pattern == nullptr) {
      auto pattern = Pattern::compile(base.tags);
      if (!pattern) return tl::unexpected(std::move(pattern.error()));
      source.pattern = std::move(*pattern);
    }
  }
  auto clients = parse_client_list(base.client_ip);
  if (!clients) return tl::unexpected(std::move(clients.error()));
  source.clients = std::move(*clients);
  source.mode = base.mode;
  next->base = base;
  if (auto refusal = check_client_blocks(*next)) return tl::unexpected(std::move(*refusal));

  std::uint64_t kept = fresh ? ~bit(0) : ~std::uint64_t{0};
  auto applied = apply({next, kept, fresh ? std::optional(0u) : std::nullopt});
  if (!applied) return tl::unexpected(std::move(applied.error()));
  return {};
}

Base base() {
  Snapshot now = snapshot();
  return now.sources == nullptr ? Base{} : now.sources->base;
}

tl::expected<OpenedLease, Refusal> open_lease(const LeaseRequest& request) {
  auto source = compile(request);
  if (!source) return tl::unexpected(std::move(source.error()));

  std::lock_guard changes(registry().changes);
  std::shared_ptr<Sources> next = copy_of_sources();
  if (!request.append) close_leases(*next);
  std::optional<unsigned> number = free_number(*next);
  if (!number) {
    return tl::unexpected(Refusal{fmt::format("{} leases are open, which is the most there can be; end them, or open one that replaces them",
                                              next->leases.size()),
                                  std::nullopt});
  }
  next->by_number[*number] = std::move(*source);
  if (auto refusal = check_client_blocks(*next)) return tl::unexpected(std::move(*refusal));
  Lease lease{last_lease_id + 1, request.tags, request.client_ip};
  next->leases.push_back({lease, *number});

  auto matched = apply({next, request.append ? ~bit(*number) : bit(0), number});
  if (!matched) return tl::unexpected(std::move(matched.error()));
  ++last_lease_id;
  return OpenedLease{std::move(lease), sorted_names(*matched)};
}

std::vector<Lease> leases() {
  std::vector<Lease> open;
  Snapshot now = snapshot();
  if (now.sources == nullptr) return open;
  for (const Sources::OpenLease& lease : now.sources->leases) open.push_back(lease.lease);
  return open;
}

std::size_t end_leases() {
  std::lock_guard changes(registry().changes);
  std::shared_ptr<Sources> next = copy_of_sources();
  std::size_t ended = next->leases.size();
  if (ended == 0) return 0;
  close_leases(*next);
  (void)apply({next, bit(0), std::nullopt});  // matches nothing new, so nothing can refuse
  return ended;
}

std::vector<TagState> tags() {
  Registry& all = registry();
  std::vector<TagState> states;
  {
    std::lock_guard changes(all.changes);  // what is on stays as it is while we look
    const SourceSets sets = all.verdicts.sets();
    for (std::uint32_t number = 1, count = all.tags.size(); number <= count; ++number) {
      const Tag& tag = all.tags.at(number);
      std::uint64_t matches = all.verdicts.matches(tag);
      bool for_all = (matches & (sets.for_controls | sets.for_strings)) != 0;
      bool for_clients = (matches & sets.for_clients) != 0;
      states.push_back({std::string(tag.name), for_all || for_clients, for_clients && !for_all, 0,
                        tag.hits.load(std::memory_order_relaxed)});
    }
  }
  for (std::uint32_t number = 1, count = all.sites.size(); number <= count; ++number) {
    const SiteEntry& entry = all.sites.at(number);
    if (entry.tag->number > states.size()) continue;  // newer than the list
    TagState& state = states[entry.tag->number - 1];
    if (entry.loaded.load(std::memory_order_relaxed) != 0) ++state.sites;
    state.hits += entry.hits.load(std::memory_order_relaxed);
  }
  std::sort(states.begin(), states.end(), [](const TagState& a, const TagState& b) { return a.name < b.name; });
  return states;
}

ControlCounters control_counters() {
  Registry& all = registry();
  return {string_tags_uncached(), all.match_errors.load(std::memory_order_relaxed), all.walks.load(std::memory_order_relaxed)};
}

}  // namespace telltale::diag
