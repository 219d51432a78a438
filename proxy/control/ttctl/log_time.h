// SPDX-License-Identifier: Apache-2.0
#pragma once
// Moments as people type them: "5m" (that long ago), "2026-11-30T10:00:00Z" as lines have it.
//
// **Thread safety:** pure function.

#include <cstdint>
#include <optional>
#include <string_view>

namespace telltale::control {

// In ns since 1970. A date, then after 'T' or a blank hours and minutes, then seconds and a fraction of them, then
// 'Z', where each may be left out with what follows it; always UTC. Or a duration, taken from `now_ns`.
// Empty: that is no moment, or one before 1970 or after 2200.
[[nodiscard]] std::optional<std::int64_t> parse_log_time(std::string_view text, std::int64_t now_ns);

}  // namespace telltale::control
