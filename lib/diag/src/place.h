// SPDX-License-Identifier: Apache-2.0
#pragma once
// Calls that are no sites: run-time controls and string tags. Their verdict is their tag's. Where the rules
// name places, it is that of an entry made for the place when it first calls, which from then on is kept
// right like any site's.
//
// **Thread safety:** thread-safe; no lock is taken but for a new place and by tag_wanted_uncached().

#include <cstdint>

#include <telltale/diag/debug_control.h>

#include "registry_verdict.h"
#include "tag_table.h"

namespace telltale::diag {

// May a line be on, at some place? Counts a hit.
bool tag_wanted(Tag& tag, Flavour flavour, bool flag) noexcept;
// Shall the line of this place be written? Counts a hit and charges the leases.
bool tag_wanted_at(Tag& tag, Flavour flavour, const Place& place, bool flag) noexcept;
// The same for a tag that is in no table; `place` may be null. Cost: the registry's lock, and matches.
bool tag_wanted_uncached(const Tag& tag, Flavour flavour, const Place* place, bool flag);

// Calls of places that were matched because kRunTimePlacesMax are kept.
std::uint64_t places_uncached() noexcept;

}  // namespace telltale::diag
