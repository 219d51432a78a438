// SPDX-License-Identifier: Apache-2.0
#include <telltale/diag/lease.h>

#include <algorithm>
#include <mutex>

#include <fmt/format.h>

#include <telltale/diag/level.h>
#include <telltale/diag/throttle.h>

#include "change_sources.h"
#include "debug_control_change.h"
#include "lease_rate.h"
#include "preview.h"
#include "registry.h"
#include "route.h"

namespace telltale::diag {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

// Guarded by Registry::changes.
constinit std::uint64_t last_lease_id = 0;
constinit unsigned last_number = 0;

// Number for a further lease, the longest unused; none: all are taken.
std::optional<unsigned> free_number(const Sources& sources) {
  for (unsigned i = 1; i <= kLeasesMax; ++i) {
    unsigned number = 1 + (last_number + i - 1) % static_cast<unsigned>(kLeasesMax);
    if (sources.by_number[number].mode == Mode::kOff) return number;
  }
  return std::nullopt;
}

// Ends the leases that `ends` says, and returns them with the lines they have had.
template <class Ends>
std::vector<Lease> close_leases(Sources& sources, Ends ends) {
  std::vector<Lease> closed;
  std::erase_if(sources.leases, [&](Sources::OpenLease& open) {
    if (!ends(open)) return false;
    sources.by_number[open.number] = Source{};
    open.lease.lines = registry().meters.lines(open.number);
    closed.push_back(std::move(open.lease));
    return true;
  });
  return closed;
}

// Once they are out of what is in force.
void tell_previews(const std::vector<Lease>& ended) noexcept {
  for (const Lease& lease : ended) {
    if (lease.kind == LeaseKind::kCount) note_preview_end(lease.id, std::chrono::steady_clock::now());
  }
}

tl::expected<Source, Refusal> compile(const LeaseRequest& request) {
  auto rules = compile_rules(request.tags, request.rules);
  if (!rules) return tl::unexpected(std::move(rules.error()));
  if (std::all_of((*rules)->rules.begin(), (*rules)->rules.end(), [](const Rule& rule) { return rule.excludes; })) {
    return tl::unexpected(Refusal{"all rules begin with '-': they switch nothing on", std::nullopt});
  }
  auto clients = parse_client_list(request.client_ip);
  if (!clients) return tl::unexpected(std::move(clients.error()));
  if (clients->empty() && !request.client_ip.empty()) {
    return tl::unexpected(
        Refusal{"the client list names no address; leave it out to mean all clients", std::size_t{0}});
  }
  if (request.duration && (request.duration->count() <= 0 || *request.duration > kLeaseDurationMax)) {
    return tl::unexpected(
        Refusal{fmt::format("a lease may last from 1 ms to {} days", kLeaseDurationMax.count() / 24), std::nullopt});
  }
  if (auto refusal = check_sample(request.sample)) return tl::unexpected(std::move(*refusal));
  if (request.max_rate > kMaxRateMost) {
    return tl::unexpected(Refusal{fmt::format("the rate {}/s is out of range; expected 1/s to {}/s", request.max_rate, kMaxRateMost),
                                  std::nullopt});
  }
  for (const std::string* text : {&request.owner, &request.reason}) {
    if (text->size() > kLeaseTextBytesMax) {
      return tl::unexpected(
          Refusal{fmt::format("owner and reason may have {} bytes", kLeaseTextBytesMax), std::nullopt});
    }
  }
  Mode mode = clients->empty() ? Mode::kOn : Mode::kOnForClients;
  return Source{mode, request.kind, 0, std::move(*rules), std::move(*clients), request.sample};
}

Lease make_lease(const LeaseRequest& request, std::uint64_t id, SteadyTime now) {
  Lease lease{.id = id,
              .tags = request.tags,
              .client_ip = request.client_ip,
              .rules = request.rules,
              .kind = request.kind,
              .max_lines = request.max_lines,
              .owner = request.owner,
              .reason = request.reason,
              .max_rate = request.max_rate,
              .sample = request.sample};
  lease.opened = std::chrono::system_clock::now();
  lease.opened_steady = now;
  lease.to = request.to;
  if (request.duration) lease.ends = now + *request.duration;
  return lease;
}

}  // namespace

std::uint64_t lease_bits(const Sources& sources) noexcept {
  std::uint64_t bits = 0;
  for (const Sources::OpenLease& open : sources.leases) bits |= source_bit(open.number);
  return bits;
}

tl::expected<OpenedLease, Refusal> open_lease(const LeaseRequest& request, SteadyTime now) {
  auto source = compile(request);
  if (!source) return tl::unexpected(std::move(source.error()));

  std::lock_guard changes(registry().changes);
  std::shared_ptr<Sources> next = copy_of_sources();
  std::vector<Lease> replaced;
  if (request.replaces != 0) {
    replaced = close_leases(*next, [&](const auto& open) { return open.lease.id == request.replaces; });
    if (replaced.empty()) {
      return tl::unexpected(Refusal{fmt::format("no lease {} is open", request.replaces), std::nullopt});
    }
  } else if (!request.append && request.kind == LeaseKind::kPrint) {
    close_leases(*next, [](const auto& open) { return open.lease.kind == LeaseKind::kPrint; });
  }
  std::optional<unsigned> number = free_number(*next);
  if (!number) {
    return tl::unexpected(Refusal{
        fmt::format("{} leases are open, which is the most there can be; end them, or open one that replaces them",
                    next->leases.size()),
        std::nullopt});
  }
  const std::uint64_t kept = kLasting | lease_bits(*next);
  Lease lease = make_lease(request, last_lease_id + 1, now);
  source->lease = lease.id;
  next->by_number[*number] = std::move(*source);
  if (auto refusal = check_client_blocks(*next)) return tl::unexpected(std::move(*refusal));
  next->leases.push_back({lease, *number});

  registry().meters.open(*number, request.max_lines, request.held || request.to != 0 ? kElsewhere | route_to(request.to) : 0);
  auto applied = apply({next, kept, number});
  if (!applied) return tl::unexpected(std::move(applied.error()));
  tell_previews(replaced);
  ++last_lease_id;
  last_number = *number;
  if (lease.max_rate != 0) watch_rate(lease, now);
  return OpenedLease{std::move(lease), std::move(applied->tags_on), applied->sites_on};
}

std::vector<Lease> leases() {
  std::vector<Lease> open;
  Snapshot now = snapshot();
  if (now.sources == nullptr) return open;
  for (const Sources::OpenLease& lease : now.sources->leases) {
    open.push_back(lease.lease);
    open.back().lines = registry().meters.lines(lease.number);
  }
  return open;
}

namespace {
template <class Ends>
std::vector<Lease> end_those(Ends ends) {
  std::shared_ptr<Sources> next = copy_of_sources();
  std::vector<Lease> ended = close_leases(*next, ends);
  if (ended.empty()) return ended;
  (void)apply({next, kLasting | lease_bits(*next), std::nullopt});  // matches nothing new, so nothing can refuse
  tell_previews(ended);
  return ended;
}
}  // namespace

std::optional<Lease> end_lease(std::uint64_t id) {
  std::lock_guard changes(registry().changes);
  auto ended = end_those([id](const auto& open) { return open.lease.id == id; });
  if (ended.empty()) return std::nullopt;
  return std::move(ended.front());
}

std::size_t end_leases() {
  std::lock_guard changes(registry().changes);
  return end_those([](const auto&) { return true; }).size();
}

std::vector<EndedLease> expire_leases(SteadyTime now) {
  std::vector<EndedLease> ended;
  {
    std::lock_guard changes(registry().changes);
    std::vector<std::uint64_t> spent;
    std::vector<Lease> leases = end_those([&](const auto& open) {
      bool no_lines_left = registry().meters.spent(open.number);
      if (no_lines_left) spent.push_back(open.lease.id);
      return no_lines_left || (open.lease.ends && *open.lease.ends <= now);
    });
    for (Lease& lease : leases) {
      bool lines = std::find(spent.begin(), spent.end(), lease.id) != spent.end();
      ended.push_back({std::move(lease), lines ? LeaseEnd::kLines : LeaseEnd::kTime});
    }
  }
  const Unthrottled each;
  for (const EndedLease& end : ended) {
    if (end.lease.kind != LeaseKind::kPrint) continue;
    note("debug lease {} ended: {}; lines: {}, tags \"{}\", rules \"{}\", opened by {}", end.lease.id,
         end.why == LeaseEnd::kLines ? "its lines are spent" : "its time is up", end.lease.lines, end.lease.tags,
         end.lease.rules, end.lease.owner.empty() ? "-" : end.lease.owner);
  }
  return ended;
}

std::optional<SteadyTime> next_lease_end() {
  std::optional<SteadyTime> earliest;
  Snapshot now = snapshot();
  if (now.sources == nullptr) return earliest;
  for (const Sources::OpenLease& open : now.sources->leases) {
    if (open.lease.ends && (!earliest || *open.lease.ends < *earliest)) earliest = open.lease.ends;
  }
  return earliest;
}

void on_lease_spent(void (*notify)(void*) noexcept, void* with) noexcept {
  registry().meters.notify_with.store(with, std::memory_order_release);
  registry().meters.notify.store(notify, std::memory_order_release);
}

}  // namespace telltale::diag
