// SPDX-License-Identifier: Apache-2.0
#include "debug_control_sources.h"

#include "registry.h"

namespace telltale::diag {

// The table of modes in DESIGN, section 3, one row a source.
SourceSets Sources::sets() const noexcept {
  SourceSets sets;
  for (unsigned i = 0; i < kSourcesMax; ++i) {
    std::uint64_t bit = std::uint64_t{1} << i;
    if (i == kRecorderSource) {
      if (by_number[i].rules != nullptr) sets.for_recorder |= bit;
      continue;
    }
    if (by_number[i].mode != Mode::kOff && by_number[i].kind == LeaseKind::kFollow) {
      sets.for_followed |= bit;
      sets.lease[i] = by_number[i].lease;
      continue;
    }
    if (by_number[i].kind == LeaseKind::kCount) sets.count_only |= bit;
    if (by_number[i].sample > 1) sets.sampled |= bit;
    sets.sample[i] = by_number[i].sample;
    switch (by_number[i].mode) {
      case Mode::kOff:
        break;
      case Mode::kOn:
        sets.for_controls |= bit;
        sets.for_strings |= bit;
        break;
      case Mode::kOnForClients:
        if (!by_number[i].clients.empty()) sets.for_clients |= bit;
        break;
      case Mode::kOnControlsOnly:
        sets.for_controls |= bit;
        break;
    }
  }
  return sets;
}

std::size_t Sources::client_blocks() const noexcept {
  std::size_t blocks = 0;
  for (const Source& source : by_number) blocks += source.clients.size();
  return blocks;
}

namespace {
void count(int error) noexcept {
  if (error != 0) registry().match_errors.fetch_add(1, std::memory_order_relaxed);
}
}  // namespace

TagMatches Sources::match_tag(std::string_view tag) const {
  TagMatches matches;
  for (unsigned i = 0; i < kSourcesMax; ++i) {
    if (by_number[i].rules == nullptr) continue;
    int error = 0;
    TagVerdict verdict = by_number[i].rules->on_tag(tag, error);
    count(error);
    std::uint64_t bit = std::uint64_t{1} << i;
    if (verdict.may) matches.may |= bit;
    if (verdict.by_place) matches.by_place |= bit;
  }
  return matches;
}

std::uint64_t Sources::match_site(const Subject& site) const {
  std::uint64_t matches = 0;
  for (unsigned i = 0; i < kSourcesMax; ++i) {
    if (by_number[i].rules == nullptr) continue;
    int error = 0;
    if (by_number[i].rules->on(site, error)) matches |= std::uint64_t{1} << i;
    count(error);
  }
  return matches;
}

}  // namespace telltale::diag
