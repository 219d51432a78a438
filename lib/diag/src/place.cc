// SPDX-License-Identifier: Apache-2.0
#include "place.h"

#include <atomic>
#include <new>

#include <telltale/diag/scope.h>
#include <telltale/diag/site.h>

#include "registry.h"
#include "route.h"
#include "rule.h"
#include "short_function.h"
#include "site_dictionary.h"
#include "word_table.h"

namespace telltale::diag {
namespace {

constinit std::atomic<std::size_t> places{0};
constinit std::atomic<std::uint64_t> uncached{0};

SiteContent content_of(const Tag& tag, const Place& place) noexcept {
  const void* name = place.module == nullptr ? nullptr : place.module->name.load(std::memory_order_acquire);
  std::string_view module = name == nullptr ? std::string_view() : static_cast<const Word*>(name)->text;
  return {tag.name, place.format, place.file, short_function(place.function), module, place.line, false, true};
}

// Null: the table is full, or memory is.
SiteEntry* entry_of(Tag& tag, const Place& place) noexcept try {
  const SiteContent content = content_of(tag, place);
  if (SiteEntry* known = find_site(content)) return known;
  if (places.load(std::memory_order_relaxed) >= kRunTimePlacesMax) return nullptr;
  SiteEntry* fresh = intern_site(content, tag, 0);
  if (fresh != nullptr) places.fetch_add(1, std::memory_order_relaxed);
  return fresh;
} catch (const std::bad_alloc&) {
  return nullptr;
}

// For the flight recorder alone?
bool record(const Tag& tag, const Decision& wanted) noexcept {
  if (wanted.record == 0) return false;
  tl_route = tag.number | kByTag | kForRecorder;
  return true;
}

bool print(const Tag& tag, const Decision& wanted, std::atomic<std::uint64_t>& hits,
           std::atomic<std::uint64_t>& counted) noexcept {
  if (wanted.count != 0) counted.fetch_add(1, std::memory_order_relaxed);
  const Charge charged = wanted.print == 0 ? Charge{} : registry().meters.charge(wanted.print);
  if (!charged.good) return record(tag, wanted);
  tl_route = tag.number | kByTag | charged.route;
  hits.fetch_add(1, std::memory_order_relaxed);
  return true;
}

}  // namespace

bool tag_wanted(Tag& tag, Flavour flavour, bool flag) noexcept {
  Registry& all = registry();
  Decision wanted = all.verdicts.decide(tag.matches, flavour, flag, current_context());
  if (wanted.print == 0 || !all.meters.can_pay(wanted.print)) return record(tag, wanted);
  tl_route = tag.number | kByTag | all.meters.route(wanted.print);
  tag.hits.fetch_add(1, std::memory_order_relaxed);
  return true;
}

bool tag_wanted_at(Tag& tag, Flavour flavour, const Place& place, bool flag) noexcept {
  Registry& all = registry();
  const Context* context = current_context();
  if (all.verdicts.now(tag.by_place) == 0) {
    return print(tag, all.verdicts.decide(tag.matches, flavour, flag, context), tag.hits, tag.counted);
  }
  if (SiteEntry* entry = entry_of(tag, place)) {
    return print(tag, all.verdicts.decide(entry->matches, flavour, flag, context), entry->history->hits,
                 entry->history->counted);
  }
  uncached.fetch_add(1, std::memory_order_relaxed);
  try {
    return tag_wanted_uncached(tag, flavour, &place, flag);
  } catch (const std::bad_alloc&) {
    return false;
  }
}

bool tag_wanted_uncached(const Tag& tag, Flavour flavour, const Place* place, bool flag) {
  Registry& all = registry();
  for (;;) {
    Snapshot at = snapshot();
    if (at.sources == nullptr) return false;
    SourceBits passing;
    std::uint64_t matches = 0;
    if (place == nullptr) {
      matches = at.sources->match_tag(tag.name).may;
    } else {
      const SiteContent content = content_of(tag, *place);
      matches = at.sources->match_site(
          {content.tag, content.file, content.function, content.module, content.format, content.line});
    }
    passing.of_epoch[at.epoch & 1].store(matches, std::memory_order_relaxed);
    Decision wanted = all.verdicts.decide(passing, flavour, flag, current_context());
    if (all.verdicts.epoch() != at.epoch) continue;
    // A tag that is in no table has no number to be recorded under.
    if (wanted.print == 0) return tag.number != 0 && record(tag, wanted);
    if (place == nullptr) {
      tl_route = tag.number | kByTag | all.meters.route(wanted.print);
      return all.meters.can_pay(wanted.print);
    }
    const Charge charged = all.meters.charge(wanted.print);
    tl_route = tag.number | kByTag | charged.route;
    return charged.good;
  }
}

std::uint64_t places_uncached() noexcept { return uncached.load(std::memory_order_relaxed); }

}  // namespace telltale::diag
