// SPDX-License-Identifier: Apache-2.0
#pragma once

// HTTP dates: reads the three formats a recipient must accept and writes the one a sender may use.
// Knows no clock: the two-digit years of RFC 850 need to be told the current time.
//
// **Thread safety:** immutable.
// **Source:** RFC 9110 section 5.6.7; civil-from-days arithmetic after Howard Hinnant's paper.

#include <cstddef>
#include <ctime>
#include <optional>
#include <string_view>

namespace telltale::http {

inline constexpr std::size_t kDateLength = 29;  // "Sun, 06 Nov 1994 08:49:37 GMT"

// Seconds since 1970, or nothing if `text` is none of the three formats, names a day that does not
// exist, or has anything before or after it. The name of the weekday is read but not checked against
// the date. Second 60 (a leap second) counts as 59. Years from 1601 to 9999.
// `now` decides the century of a two-digit year: a date more than 50 years ahead lies in the past.
std::optional<std::time_t> parse_date(std::string_view text, std::time_t now);

// Writes exactly kDateLength bytes, no NUL. Times outside the years 1 to 9999 are moved to the
// nearest end of that range.
void format_date(std::time_t time, char (&out)[kDateLength]);

}  // namespace telltale::http
