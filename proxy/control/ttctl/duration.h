// SPDX-License-Identifier: Apache-2.0
#pragma once
// Durations as people type them: "500ms", "30s", "5m", "2h", "1d".
//
// **Thread safety:** pure function.

#include <cstdint>
#include <optional>
#include <string_view>

namespace telltale::control {

inline constexpr std::uint64_t kDurationDaysMax = 1000;

// In milliseconds, above 0 and up to kDurationDaysMax days. Empty: that is no duration.
[[nodiscard]] std::optional<std::uint64_t> parse_duration(std::string_view text);

}  // namespace telltale::control
