// SPDX-License-Identifier: Apache-2.0
#include "cache/freshness.h"

#include <catch2/catch.hpp>
#include <random>
#include <string>

#include "cache/stored_response.h"
#include "http/date.h"
#include "tests/unit/cache/responses.h"

namespace telltale::cache {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using test::fields_of;

// 2026-11-30T10:00:00Z, when the responses here are received.
const WallTime kNow{seconds{1796032800}};
constexpr const char* kNowText = "Mon, 30 Nov 2026 10:00:00 GMT";

std::optional<seconds> lifetime_of(std::initializer_list<std::pair<const char*, const char*>> list) {
  const http::Fields fields = fields_of(list);
  return freshness_lifetime(fields, http::parse_cache_control(fields), kNow);
}

seconds age_of(std::initializer_list<std::pair<const char*, const char*>> list, seconds delay = seconds{0}) {
  return initial_age(fields_of(list), kNow - delay, kNow);
}

TEST_CASE("Freshness: s-maxage goes before max-age, max-age before Expires", "[cache][freshness][rfc9111]") {
  CHECK(lifetime_of({{"Cache-Control", "max-age=60"}}) == seconds{60});
  CHECK(lifetime_of({{"Cache-Control", "max-age=60, s-maxage=5"}}) == seconds{5});
  CHECK(lifetime_of({{"Cache-Control", "s-maxage=5, max-age=60"}}) == seconds{5});
  CHECK(lifetime_of({{"Cache-Control", "s-maxage=0, max-age=60"}}) == seconds{0});
  CHECK(lifetime_of({{"Cache-Control", "max-age=60"}, {"Expires", "Mon, 30 Nov 2026 10:00:05 GMT"}}) == seconds{60});
  CHECK(lifetime_of({{"Cache-Control", "max-age=0"}, {"Expires", "Mon, 30 Nov 2026 11:00:00 GMT"}}) == seconds{0});
  CHECK(lifetime_of({{"Cache-Control", "public"}, {"Expires", "Mon, 30 Nov 2026 10:00:05 GMT"}}) == seconds{5});
}

TEST_CASE("Freshness: a response that says nothing has no lifetime, and none is guessed", "[cache][freshness][rfc9111]") {
  CHECK(lifetime_of({}) == std::nullopt);
  CHECK(lifetime_of({{"Cache-Control", "public, must-revalidate"}}) == std::nullopt);
  CHECK(lifetime_of({{"Last-Modified", "Mon, 30 Nov 2020 10:00:00 GMT"}, {"Date", kNowText}}) == std::nullopt);
}

TEST_CASE("Freshness: a lifetime that is invalid or given twice is none", "[cache][freshness][rfc9111]") {
  // Case B148.
  for (const char* value : {"max-age=-1", "max-age=abc", "max-age=", "max-age", "max-age=1, max-age=60", "max-age=1.5",
                            "max-age=60s", "s-maxage=x, max-age=60", "max-age=\"6 0\""}) {
    INFO(value);
    CHECK(lifetime_of({{"Cache-Control", value}}) == seconds{0});
  }
  CHECK(lifetime_of({{"Cache-Control", "max-age=1"}, {"Cache-Control", "max-age=60"}}) == seconds{0});
  CHECK(lifetime_of({{"Cache-Control", "max-age=\"60\""}}) == seconds{60});  // RFC 9111 5.2: both forms are to be taken
  CHECK(lifetime_of({{"Cache-Control", "max-age=99999999999"}}) == seconds{http::kDeltaMax});  // 11 digits
}

TEST_CASE("Freshness: Expires counts from Date, without a Date from when the response came", "[cache][freshness][rfc9111]") {
  CHECK(lifetime_of({{"Date", "Mon, 30 Nov 2026 09:00:00 GMT"}, {"Expires", "Mon, 30 Nov 2026 09:01:00 GMT"}}) == seconds{60});
  CHECK(lifetime_of({{"Expires", "Mon, 30 Nov 2026 10:01:00 GMT"}}) == seconds{60});
  CHECK(lifetime_of({{"Date", "yesterday"}, {"Expires", "Mon, 30 Nov 2026 10:01:00 GMT"}}) == seconds{60});
  CHECK(lifetime_of({{"Date", kNowText}, {"Expires", kNowText}}) == seconds{0});
  CHECK(lifetime_of({{"Date", kNowText}, {"Expires", "Mon, 30 Nov 2026 09:59:59 GMT"}}) == seconds{0});
}

TEST_CASE("Freshness: an Expires that is no date, or given twice, means stale already", "[cache][freshness][rfc9111]") {
  for (const char* value : {"0", "-1", "", "never", "Mon, 30 Nov 2026 10:01:00", "1796036400"}) {
    INFO(value);
    CHECK(lifetime_of({{"Expires", value}}) == seconds{0});
  }
  CHECK(lifetime_of({{"Expires", "Mon, 30 Nov 2026 10:01:00 GMT"}, {"Expires", "Mon, 30 Nov 2026 10:01:00 GMT"}}) == seconds{0});
}

TEST_CASE("Freshness: dates at the ends of the calendar are compared right", "[cache][freshness][rfc9111]") {
  // "Never expires" is often said so; the nanoseconds of such a date do not fit into 64 bits.
  CHECK(lifetime_of({{"Date", kNowText}, {"Expires", "Fri, 31 Dec 9999 23:59:59 GMT"}}) == seconds{http::kDeltaMax});
  CHECK(lifetime_of({{"Expires", "Sat, 01 Jan 2300 00:00:00 GMT"}}) == seconds{http::kDeltaMax});
  CHECK(lifetime_of({{"Expires", "Thu, 01 Jan 1970 00:00:00 GMT"}}) == seconds{0});
  CHECK(lifetime_of({{"Expires", "Mon, 01 Jan 1601 00:00:00 GMT"}}) == seconds{0});
  CHECK(lifetime_of({{"Date", "Fri, 31 Dec 9999 23:59:59 GMT"}, {"Expires", "Mon, 30 Nov 2026 10:01:00 GMT"}}) == seconds{0});
  CHECK(age_of({{"Date", "Fri, 31 Dec 9999 23:59:59 GMT"}}) == seconds{0});
  CHECK(age_of({{"Date", "Mon, 01 Jan 1601 00:00:00 GMT"}}) == seconds{http::kDeltaMax});
}

TEST_CASE("Freshness: the initial age is Age plus the time the answer took", "[cache][freshness][rfc9111]") {
  CHECK(age_of({}) == seconds{0});
  CHECK(age_of({}, seconds{3}) == seconds{3});
  CHECK(age_of({{"Age", "10"}}) == seconds{10});
  CHECK(age_of({{"Age", "10"}}, seconds{3}) == seconds{13});
  CHECK(age_of({{"Age", "ten"}}, seconds{3}) == seconds{3});
  CHECK(age_of({{"Age", "-5"}}) == seconds{0});
  CHECK(age_of({{"Age", "99999999999"}}, seconds{3}) >= seconds{http::kDeltaMax});
  // RFC 9111, 5.1: of a list the first member counts.
  CHECK(age_of({{"Age", "10, 20"}}) == seconds{10});
  CHECK(age_of({{"Age", "10,"}}) == seconds{10});
  CHECK(age_of({{"Age", "10"}, {"Age", "20"}}) == seconds{10});
  CHECK(age_of({{"Age", "ten, 20"}}) == seconds{0});
}

TEST_CASE("Freshness: the initial age is the apparent age where that is larger", "[cache][freshness][rfc9111]") {
  CHECK(age_of({{"Date", "Mon, 30 Nov 2026 09:58:00 GMT"}}) == seconds{120});
  CHECK(age_of({{"Date", "Mon, 30 Nov 2026 09:58:00 GMT"}, {"Age", "10"}}, seconds{3}) == seconds{120});
  CHECK(age_of({{"Date", "Mon, 30 Nov 2026 09:58:00 GMT"}, {"Age", "130"}}, seconds{3}) == seconds{133});
  CHECK(age_of({{"Date", "Mon, 30 Nov 2026 10:05:00 GMT"}}, seconds{2}) == seconds{2});  // the origin's clock is ahead
}

TEST_CASE("Freshness: a wall clock that is set back in mid-request makes no negative age", "[cache][freshness]") {
  // Case B86.
  CHECK(initial_age(fields_of({}), kNow + seconds{10}, kNow) == seconds{0});
  CHECK(initial_age(fields_of({{"Age", "7"}}), kNow + seconds{10}, kNow) == seconds{7});
}

TEST_CASE("Freshness: agrees with the arithmetic of RFC 9111 done in whole seconds, on random input", "[cache][freshness][rfc9111]") {
  std::mt19937_64 random(9111);
  auto near = [&] { return std::uniform_int_distribution<std::int64_t>(-5000, 5000)(random); };
  const std::int64_t now = 1796032800;
  for (int i = 0; i < 5000; ++i) {
    const std::int64_t date = now + near(), expires = now + near(), age = std::abs(near()), delay = std::abs(near());
    char date_text[http::kDateLength], expires_text[http::kDateLength];
    http::format_date(date, date_text);
    http::format_date(expires, expires_text);
    http::Fields fields;
    fields.add_copy("Date", {date_text, sizeof date_text});
    fields.add_copy("Expires", {expires_text, sizeof expires_text});
    fields.add_copy("Age", std::to_string(age));
    REQUIRE(freshness_lifetime(fields, {}, kNow) == seconds{std::max<std::int64_t>(0, expires - date)});
    REQUIRE(initial_age(fields, kNow - seconds{delay}, kNow) ==
            seconds{std::max(std::max<std::int64_t>(0, now - date), age + delay)});
  }
}

TEST_CASE("StoredResponse: the current age is the initial age plus the time it lay there", "[cache][freshness][rfc9111]") {
  const std::chrono::steady_clock::time_point stored{hours{1000}};
  StoredResponse response;
  response.stored_at = stored;
  response.initial_age = seconds{10};
  response.lifetime = seconds{60};
  CHECK(response.current_age(stored) == seconds{10});
  CHECK(response.current_age(stored + std::chrono::milliseconds{1999}) == seconds{11});
  CHECK(response.fresh(stored + seconds{49}));
  CHECK_FALSE(response.fresh(stored + seconds{50}));  // fresh only while its lifetime is greater than its age
  // Case B86: another worker's "now" may be a turn of its loop older than stored_at.
  CHECK(response.current_age(stored - seconds{5}) == seconds{10});
  CHECK(response.fresh(stored - seconds{5}));
}

}  // namespace
}  // namespace telltale::cache
