// SPDX-License-Identifier: Apache-2.0
#include "http/date.h"

#include <catch2/catch.hpp>
#include <ctime>
#include <iomanip>
#include <random>
#include <sstream>
#include <string>

using namespace telltale::http;

namespace {

constexpr std::time_t kNow = 1796040000;  // 2026-11-30

std::string format(std::time_t time) {
  char out[kDateLength];
  format_date(time, out);
  return std::string(out, kDateLength);
}

// The slow and obvious version.
std::string slow_format(std::time_t time, const char* pattern) {
  std::tm parts{};
  gmtime_r(&time, &parts);
  std::ostringstream out;
  out << std::put_time(&parts, pattern);
  return out.str();
}

}  // namespace

TEST_CASE("Date: the three examples of RFC 9110 are the same moment", "[http][date]") {
  CHECK(parse_date("Sun, 06 Nov 1994 08:49:37 GMT", kNow) == std::time_t{784111777});
  CHECK(parse_date("Sunday, 06-Nov-94 08:49:37 GMT", kNow) == std::time_t{784111777});
  CHECK(parse_date("Sun Nov  6 08:49:37 1994", kNow) == std::time_t{784111777});
  CHECK(parse_date("Wed Nov 16 08:49:37 1994", kNow) == std::time_t{784111777 + 10 * 86400});
  CHECK(format(784111777) == "Sun, 06 Nov 1994 08:49:37 GMT");
  CHECK(format(0) == "Thu, 01 Jan 1970 00:00:00 GMT");
}

TEST_CASE("Date: formatting and parsing agree with strftime on random times", "[http][date]") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 30000; ++round) {
    const auto time = static_cast<std::time_t>(random() % 265046774400u) - 11644473600;  // 1601 to about 9999
    const std::string text = format(time);
    if (text != slow_format(time, "%a, %d %b %Y %H:%M:%S GMT")) FAIL("format of " << time << ": " << text);
    if (parse_date(text, kNow) != time) FAIL("parse of " << text);
    const std::string asctime = slow_format(time, "%a %b %e %H:%M:%S %Y");
    if (parse_date(asctime, kNow) != time) FAIL("parse of " << asctime);
  }
  SUCCEED();
}

TEST_CASE("Date: a two-digit year is at most 50 years ahead", "[http][date]") {
  std::mt19937_64 random(2);
  for (int round = 0; round < 20000; ++round) {
    // Anything between 49 years back and 49 years ahead comes back.
    const auto time = kNow + static_cast<std::time_t>(random() % (98ull * 31556952)) - 49ll * 31556952;
    const std::string text = slow_format(time, "%A, %d-%b-%y %H:%M:%S GMT");
    if (parse_date(text, kNow) != time) FAIL("parse of " << text);
  }
  CHECK(parse_date("Monday, 30-Nov-76 00:00:00 GMT", kNow) == parse_date("Mon, 30 Nov 2076 00:00:00 GMT", kNow));
  CHECK(parse_date("Thursday, 30-Nov-78 00:00:00 GMT", kNow) == parse_date("Thu, 30 Nov 1978 00:00:00 GMT", kNow));
}

TEST_CASE("Date: whatever is not exactly a date is refused", "[http][date]") {
  for (const char* text :
       {"", "0", "-1", "Sun", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 GMT ", " Sun, 06 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT",
        "sun, 06 Nov 1994 08:49:37 GMT", "Sun, 31 Nov 1994 08:49:37 GMT", "Sun, 29 Feb 1900 08:49:37 GMT",
        "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:37 GMT",
        "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 06 Nov 94 08:49:37 GMT", "Sunday, 06-Nov-1994 08:49:37 GMT",
        "Sun Nov 6 08:49:37 1994", "Sun Nov  6 08:49:37 1994 GMT", "Sun, 06 Nov 1600 08:49:37 GMT",
        "1994-11-06T08:49:37Z", "Sunday 06-Nov-94 08:49:37 GMT", "Sun, 06 Nov 19\x39\xb4 08:49:37 GMT"}) {
    INFO(text);
    CHECK_FALSE(parse_date(text, kNow).has_value());
  }
}

TEST_CASE("Date: every cut of a date is refused", "[http][date]") {
  for (const std::string_view text : {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"}) {
    for (std::size_t n = 0; n < text.size(); ++n) CHECK_FALSE(parse_date(text.substr(0, n), kNow).has_value());
  }
}

TEST_CASE("Date: leap days and leap seconds", "[http][date]") {
  CHECK(parse_date("Tue, 29 Feb 2000 00:00:00 GMT", kNow).has_value());
  CHECK(parse_date("Sat, 31 Dec 2016 23:59:60 GMT", kNow) == parse_date("Sat, 31 Dec 2016 23:59:59 GMT", kNow));
}

TEST_CASE("Date: times outside four-digit years are written as the nearest one inside", "[http][date]") {
  CHECK(format(std::time_t{253402300799}) == "Fri, 31 Dec 9999 23:59:59 GMT");
  CHECK(format(std::time_t{253402300800}) == "Fri, 31 Dec 9999 23:59:59 GMT");
  CHECK(format(std::time_t{-99999999999999}) == "Mon, 01 Jan 0001 00:00:00 GMT");
}
