// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tags: every name any site, run-time control or string-tag call has used, interned for good.
//
// A Tag is what sites, controls and string-tag calls share: its name, copied, a number, and which sources
// (base and leases) have it on, for calls that are no sites and have the verdict of their tag. Number and
// name outlive the module that brought them.
//
// **Thread safety:** thread-safe.

#include <atomic>
#include <cstdint>
#include <string_view>

#include <telltale/diag/export.h>

#include "source_bits.h"

namespace telltale::diag {

struct Tag {
  std::uint32_t number = 0;
  std::uint64_t hash = 0;
  Tag* next_in_chain = nullptr;
  std::string_view name;  // ends with a NUL behind it; never freed

  // Bit n: source n's rules have it on at some place; and, of those, where the place decides.
  SourceBits matches;
  SourceBits by_place;

  // Enabled calls of run-time controls and string tags; a site counts its own. On a line of its own:
  // threads write it while others read the verdict.
  alignas(64) std::atomic<std::uint64_t> hits{0};
  std::atomic<std::uint64_t> counted{0};  // by previews
};

inline constexpr std::uint32_t kTagsMax = 65'536;

// The tag of that name, made and matched against the patterns in force if it is new. Null: kTagsMax tags
// exist; counted, and reported once. REQUIRES: valid_tag(name); no lock is held.
// Cost: a look-up without lock; a new tag allocates, matches, and takes the registry's lock.
Tag* intern_tag(std::string_view name);
// Null: never heard of it.
Tag* find_tag(std::string_view name) noexcept;

// For the backend: null for 0 and unknown numbers. Cost: no lock, two loads.
TELLTALE_EXPORT const Tag* tag_by_number(std::uint32_t number) noexcept;

}  // namespace telltale::diag
