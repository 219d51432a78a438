// SPDX-License-Identifier: Apache-2.0
#pragma once
// The text of a double as fmt's "{}" has it: the shortest decimal that is read back as the same double.
//
// Most doubles in a debug line are durations, rates and shares: decimals of few digits. Those are found by trying:
// if n / 1'000'000 rounds to the double and n has at most 15 digits, then n is the decimal, for no two decimals of at
// most 15 digits round to the same double, so there is no shorter one and none that is nearer. All others are
// fmt's, which takes four times as long.
//
// **Thread safety:** immutable.

#include <cstddef>

namespace telltale::diag {

inline constexpr std::size_t kDoubleBytesMax = 24;  // "-1.2345678901234567e-308"

// Writes at `at`, where there is room for kDoubleBytesMax, and returns its end.
char* put_double(char* at, double value) noexcept;

}  // namespace telltale::diag
