// SPDX-License-Identifier: Apache-2.0
//
// A lease above its max_rate is not cut off: what writes the most is taken back from it, and the rest goes on.
//
// Each lease has a bucket of max_rate lines, filled by max_rate a second; what it wrote since the last look is
// taken out. Below zero, the lease is too loud: of the sites and tags it has on, those with the most hits since
// the last look are excluded, until what is left would have been within the rate. Excluding is a rule behind the
// lease's own, so that everything that knows rules (new modules, `sites --why`) knows of it too, and nothing else
// that the lease has on is off for a moment.
//
// Hits are counted per site, not per lease: where the base or another lease has the same sites on, for more
// clients or transactions, their hits count here as well, and only the order of the loudest may differ from that
// of the lease's own lines.
#include "lease_rate.h"

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <telltale/diag/level.h>
#include <telltale/diag/output.h>
#include <telltale/diag/throttle.h>

#include "change_sources.h"
#include "debug_control_change.h"
#include "registry.h"

namespace telltale::diag {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

constexpr std::size_t kNamesInNote = 5;

// Hits by number - 1, as they were at the last look.
struct Hits {
  std::vector<std::uint64_t> sites, tags;
};

struct Watched {
  std::uint64_t lease = 0;
  SteadyTime looked{};
  std::uint64_t lines = 0;  // as of then
  double bucket = 0;
};

struct Watch {
  std::vector<Watched> leases;
  Hits hits;
};
// Guarded by Registry::changes.
Watch& watch() {
  static Watch* one = new Watch;
  return *one;
}

Hits hits_now() {
  Registry& all = registry();
  Hits hits;
  for (std::uint32_t number = 1, count = all.histories.size(); number <= count; ++number) {
    hits.sites.push_back(all.histories.at(number).hits_so_far());
  }
  for (std::uint32_t number = 1, count = all.tags.size(); number <= count; ++number) {
    hits.tags.push_back(all.tags.at(number).hits.load(std::memory_order_relaxed));
  }
  return hits;
}

std::uint64_t since(const std::vector<std::uint64_t>& before, const std::vector<std::uint64_t>& now, std::uint32_t number) {
  if (number > now.size()) return 0;
  return now[number - 1] - (number <= before.size() ? before[number - 1] : 0);
}

std::string quoted(std::string_view value) {
  if (value.find_first_of(" \t;\"") == std::string_view::npos) return std::string(value);
  std::string text = "\"";
  for (char c : value) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + '"';
}

std::string glob_of(std::string_view text) {
  std::string glob;
  for (char c : text) {
    if (c == '*' || c == '?' || c == '\\') glob += '\\';
    glob += c;
  }
  return quoted(glob);
}

std::string pattern_of(std::string_view tag) {
  std::string pattern;
  for (char c : tag) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    if (!plain) pattern += '\\';
    pattern += c;
  }
  return quoted(pattern + '$');
}

// Something a lease has on that wrote lines.
struct Loud {
  std::uint64_t lines = 0;
  std::string rule;  // that excludes it
};

std::vector<Loud> loudest_first(std::uint64_t source, const Hits& before, const Hits& now) {
  Registry& all = registry();
  std::vector<Loud> loud;
  for (std::uint32_t number = 1, count = all.sites.size(); number <= count; ++number) {
    const SiteEntry& entry = all.sites.at(number);
    const bool here = entry.at_run_time || entry.loaded.load(std::memory_order_relaxed) != 0;
    const std::uint64_t lines = since(before.sites, now.sites, entry.history->number);
    if (lines == 0 || !here || (all.verdicts.now(entry.matches) & source) == 0) continue;
    std::string rule = fmt::format("-file={} line={}", glob_of(entry.file), entry.line);
    if (!entry.at_run_time && !entry.module.empty()) rule += fmt::format(" module={}", glob_of(entry.module));
    loud.push_back({lines, std::move(rule)});
  }
  for (std::uint32_t number = 1, count = all.tags.size(); number <= count; ++number) {
    const Tag& tag = all.tags.at(number);
    const std::uint64_t lines = since(before.tags, now.tags, number);
    if (lines != 0 && (all.verdicts.now(tag.matches) & source) != 0) loud.push_back({lines, "-tag=" + pattern_of(tag.name)});
  }
  std::stable_sort(loud.begin(), loud.end(), [](const Loud& a, const Loud& b) { return a.lines > b.lines; });
  return loud;
}

// What has to go so that at most `within` of `lines` would have been written; at least one, where there is any.
std::vector<Loud> too_loud(std::vector<Loud> loud, double lines, double within) {
  std::size_t n = 0;
  while (n < loud.size() && (n == 0 || lines > within)) lines -= static_cast<double>(loud[n++].lines);
  loud.resize(n);
  return loud;
}

std::string in_words(const Lease& lease, const std::vector<Lease::TakenBack>& taken) {
  std::string words;
  for (std::size_t i = 0; i < taken.size() && i < kNamesInNote; ++i) {
    words += fmt::format("{}{} ({:.0f} lines/s)", i == 0 ? "" : ", ", taken[i].rule.substr(1), taken[i].lines_per_s);
  }
  if (taken.size() > kNamesInNote) words += fmt::format(" and {} more", taken.size() - kNamesInNote);
  return fmt::format("debug lease {} writes more than its {} lines/s; taken back from it: {}", lease.id, lease.max_rate, words);
}

// Empty: there is no room for these rules, or they cannot be matched.
std::optional<std::string> take_back(const Sources::OpenLease& open, const std::vector<Loud>& loud, double seconds) {
  std::shared_ptr<Sources> next = copy_of_sources();
  auto same = [&](const Sources::OpenLease& one) { return one.lease.id == open.lease.id; };
  Lease& lease = std::find_if(next->leases.begin(), next->leases.end(), same)->lease;
  std::vector<Lease::TakenBack> taken;
  for (const Loud& one : loud) taken.push_back({one.rule, static_cast<double>(one.lines) / seconds});
  lease.taken_back.insert(lease.taken_back.end(), taken.begin(), taken.end());
  std::string rules = lease.rules;
  for (const Lease::TakenBack& one : lease.taken_back) rules += (rules.empty() ? "" : "; ") + one.rule;
  auto compiled = compile_rules(lease.tags, rules);
  if (!compiled) return std::nullopt;
  next->by_number[open.number].rules = std::move(*compiled);
  if (!apply({next, ~source_bit(open.number), open.number})) return std::nullopt;
  return in_words(lease, taken);
}

}  // namespace

void watch_rate(const Lease& lease, SteadyTime now) {
  watch().hits = hits_now();
  watch().leases.push_back({lease.id, now, 0, static_cast<double>(lease.max_rate)});
}

namespace {
bool any_watched() {
  std::lock_guard changes(registry().changes);
  return !watch().leases.empty();
}
}  // namespace

std::size_t limit_leases(SteadyTime now) {
  if (!any_watched()) return 0;
  flush_output(kHitsWaitMax / 5);  // who wrote what is counted where it is read; a stuck sink is not waited for long
  std::vector<std::string> notes;
  std::vector<std::uint64_t> full;  // leases that can have no further rule
  {
    Registry& all = registry();
    std::lock_guard changes(all.changes);
    Watch& one = watch();
    const Snapshot sources = snapshot();
    const Hits hits = hits_now();
    std::erase_if(one.leases, [&](Watched& watched) {
      auto same = [&](const Sources::OpenLease& open) { return open.lease.id == watched.lease; };
      if (sources.sources == nullptr) return true;
      auto open = std::find_if(sources.sources->leases.begin(), sources.sources->leases.end(), same);
      if (open == sources.sources->leases.end()) return true;
      const double rate = static_cast<double>(open->lease.max_rate);
      const double seconds = std::chrono::duration<double>(now - watched.looked).count();
      const std::uint64_t written = all.meters.lines(open->number);
      const auto lines = static_cast<double>(written - watched.lines);
      watched.bucket = std::min(rate, watched.bucket + rate * seconds) - lines;
      watched.looked = now;
      watched.lines = written;
      if (watched.bucket >= 0) return false;
      watched.bucket = 0;
      const double measured = std::max(seconds, std::chrono::duration<double>(kRateCheckEvery).count());
      std::vector<Loud> loud = too_loud(loudest_first(source_bit(open->number), one.hits, hits), lines, rate * measured);
      if (loud.empty()) return false;  // its lines came from what is gone since
      if (auto words = take_back(*open, loud, measured)) {
        notes.push_back(std::move(*words));
        watched.lines = all.meters.lines(open->number);
      } else {
        full.push_back(open->lease.id);
      }
      return false;
    });
    one.hits = hits;
  }
  const Unthrottled each;
  for (const std::string& words : notes) note("{}", words);
  for (std::uint64_t lease : full) {
    if (end_lease(lease)) note("debug lease {} ended: it writes more than its rate, and has too many rules to take more back", lease);
  }
  return notes.size() + full.size();
}

std::optional<SteadyTime> next_rate_check() {
  std::lock_guard changes(registry().changes);
  std::optional<SteadyTime> next;
  for (const Watched& one : watch().leases) {
    if (!next || one.looked + kRateCheckEvery < *next) next = one.looked + kRateCheckEvery;
  }
  return next;
}

// The finaliser of splitmix64: every bit of the number decides.
bool in_sample(std::uint64_t transaction, std::uint32_t sample) noexcept {
  if (sample <= 1) return true;
  std::uint64_t hash = transaction + 0x9E37'79B9'7F4A'7C15;
  hash = (hash ^ hash >> 30) * 0xBF58'476D'1CE4'E5B9;
  hash = (hash ^ hash >> 27) * 0x94D0'49BB'1331'11EB;
  hash ^= hash >> 31;
  // Below a bound, not divisible: so the smaller of two samples is part of the larger.
  return (hash >> 32) * sample < std::uint64_t{1} << 32;
}

}  // namespace telltale::diag
