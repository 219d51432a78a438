// SPDX-License-Identifier: Apache-2.0
#pragma once
// Site::plain: the site is on for everybody by the base alone, so nothing need be asked, and its number.
//
// The word holds the low bits of the epoch (registry_verdict.h) that it was made in beside the number. A thread that
// has seen the epoch by itself keeps the same bits in its ring (RingPositions::plain), and a site whose word has them
// is on (dbg.h): no other memory is read. A change first takes the word from all rings; then every site asks. It moves
// the epoch, writes the sites' words anew, and then threads that ask see the epoch again.
//
// The epoch's bits come round after 4,096 changes; every change writes every site of a loaded module, and unloading
// writes 0.
//
//   bits   0..18  the site's number
//         19..30  of the epoch
//             31  1; a word that says nothing is 0
//
// **Thread safety:** written under the registry's lock, read by anybody.

#include <cstdint>

#include <telltale/diag/ring_front.h>
#include <telltale/diag/site.h>

#include "registry.h"
#include "route.h"

namespace telltale::diag {

inline constexpr unsigned kPlainNumberBits = 19;
static_assert((1u << kPlainNumberBits) - 1 == kSiteNumberMost && kSitesMax <= kSiteNumberMost);
static_assert(((kRouteBits | kByTag) & kSiteNumberMost) == 0);

constexpr std::uint32_t plain_word(std::uint64_t epoch, std::uint32_t number = 0) noexcept {
  return 1u << 31 | (static_cast<std::uint32_t>(epoch) & 0xFFF) << kPlainNumberBits | number;
}

// Is a site plainly on that these rules match? Sources that count its lines, or are for some only, are asked.
inline bool is_plain(const SourceSets& sets, std::uint64_t matches, bool specific) noexcept {
  constexpr std::uint64_t kBase = 1;
  const std::uint64_t asked = sets.for_controls | sets.for_clients | sets.for_followed | sets.count_only;
  return !specific && (matches & asked) == kBase && (sets.for_controls & kBase) != 0 &&
         ((sets.sampled | sets.count_only | sets.for_clients) & kBase) == 0;
}

}  // namespace telltale::diag
