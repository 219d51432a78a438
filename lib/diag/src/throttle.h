// SPDX-License-Identifier: Apache-2.0
#pragma once
// The library's side of <telltale/diag/throttle.h>: asked for each record of a level line before it is
// published, and by the backend's clock.
//
// **Thread safety:** thread-safe.

#include <telltale/diag/record.h>

namespace telltale::diag {

constexpr bool is_throttled(Level level) noexcept { return level >= Level::kNote && level <= Level::kError; }

// Shall this record, not yet published, be? REQUIRES: is_throttled(header.level), header.site == 0; `arguments`
// to `end` are its header.argument_count arguments.
bool throttle_admits(const RecordHeader& header, const char* arguments, const char* end) noexcept;

// Tells of what was held back in intervals that are over, in lines of the calling thread.
void tell_held_back_in_time() noexcept;

// In a forked child: what the parent holds back, the parent tells.
void forget_held_back() noexcept;

}  // namespace telltale::diag
