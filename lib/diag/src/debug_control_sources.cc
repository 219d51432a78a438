// SPDX-License-Identifier: Apache-2.0
#include "debug_control_sources.h"

#include "registry.h"

namespace telltale::diag {

// The table of modes in DESIGN, section 3, one row a source.
SourceSets Sources::sets() const noexcept {
  SourceSets sets;
  for (unsigned i = 0; i < kSourcesMax; ++i) {
    std::uint64_t bit = std::uint64_t{1} << i;
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

std::uint64_t Sources::match(std::string_view tag) const {
  std::uint64_t matches = 0;
  for (unsigned i = 0; i < kSourcesMax; ++i) {
    if (by_number[i].pattern == nullptr) continue;
    Pattern::Result result = by_number[i].pattern->match(tag);
    if (result.outcome == Pattern::Outcome::kMatch) matches |= std::uint64_t{1} << i;
    if (result.outcome == Pattern::Outcome::kError) registry().match_errors.fetch_add(1, std::memory_order_relaxed);
  }
  return matches;
}

}  // namespace telltale::diag
