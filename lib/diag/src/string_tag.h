// SPDX-License-Identifier: Apache-2.0
#pragma once
// Counts of the string-tag calls; string_tag_wanted() itself is public (debug_control.h).
//
// **Thread safety:** thread-safe.

#include <cstdint>

namespace telltale::diag {

// Calls that matched because the cache was full.
std::uint64_t string_tags_uncached() noexcept;

}  // namespace telltale::diag
