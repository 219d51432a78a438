// SPDX-License-Identifier: Apache-2.0
//
// By hand because strptime depends on the locale and accepts more than HTTP does, and timegm is slow. Days are
// counted in years that begin in March, so that the leap day is the last one of a year.
// The slow reference is strptime with timegm in tests/unit/http/date_test.cc.
#include "http/date.h"

#include <array>
#include <cstdint>
#include <cstring>

#include "http/token.h"

namespace telltale::http {
namespace {

constexpr std::array<std::string_view, 7> kDays{"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                "Thursday", "Friday", "Saturday"};
constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";

constexpr std::int64_t days_from_civil(std::int64_t year, unsigned month, unsigned day) {
  year -= month <= 2;
  const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
  const auto year_of_era = static_cast<unsigned>(year - era * 400);
  const unsigned day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  const unsigned day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146097 + static_cast<std::int64_t>(day_of_era) - 719468;
}

struct Civil {
  std::int64_t year;
  unsigned month;
  unsigned day;
};

constexpr Civil civil_from_days(std::int64_t days) {
  days += 719468;
  const std::int64_t era = (days >= 0 ? days : days - 146096) / 146097;
  const auto day_of_era = static_cast<unsigned>(days - era * 146097);
  const unsigned year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const unsigned day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const unsigned shifted = (5 * day_of_year + 2) / 153;
  const unsigned month = shifted < 10 ? shifted + 3 : shifted - 9;
  return {static_cast<std::int64_t>(year_of_era) + era * 400 + (month <= 2), month,
          day_of_year - (153 * shifted + 2) / 5 + 1};
}

constexpr unsigned days_in_month(std::int64_t year, unsigned month) {
  constexpr std::array<unsigned, 12> kDaysIn{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return month == 2 && leap ? 29 : kDaysIn[month - 1];
}

// Takes the date apart from the left; everything after the first mismatch fails.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  void literal(std::string_view expected) {
    if (rest_.substr(0, expected.size()) != expected) {
      ok_ = false;
    } else {
      rest_.remove_prefix(expected.size());
    }
  }

  unsigned digits(std::size_t count) {
    if (rest_.size() < count) ok_ = false;
    unsigned value = 0;
    for (std::size_t i = 0; i < count && ok_; ++i) {
      if (!is_digit(rest_[i])) ok_ = false;
      value = value * 10 + static_cast<unsigned>(rest_[i] - '0');
    }
    if (ok_) rest_.remove_prefix(count);
    return value;
  }

  // asctime pads the day with a space.
  unsigned padded_day() {
    if (!rest_.empty() && rest_.front() == ' ') {
      rest_.remove_prefix(1);
      return digits(1);
    }
    return digits(2);
  }

  unsigned month() {
    const std::string_view name = rest_.substr(0, 3);
    for (unsigned i = 0; i < 12 && name.size() == 3; ++i) {
      if (kMonths.substr(i * 3, 3) == name) {
        rest_.remove_prefix(3);
        return i + 1;
      }
    }
    ok_ = false;
    return 1;
  }

  // Hours, minutes and seconds as seconds.
  unsigned time_of_day() {
    const unsigned hour = digits(2);
    literal(":");
    const unsigned minute = digits(2);
    literal(":");
    unsigned second = digits(2);
    if (hour > 23 || minute > 59 || second > 60) ok_ = false;
    if (second == 60) second = 59;
    return hour * 3600 + minute * 60 + second;
  }

  bool finished() const { return ok_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

std::optional<std::time_t> make_time(std::int64_t year, unsigned month, unsigned day, unsigned seconds) {
  if (year < 1601 || day < 1 || day > days_in_month(year, month)) return std::nullopt;
  return static_cast<std::time_t>(days_from_civil(year, month, day) * 86400 + seconds);
}

}  // namespace

std::optional<std::time_t> parse_date(std::string_view text, std::time_t now) {
  for (const std::string_view day_name : kDays) {
    if (text.substr(0, 3) != day_name.substr(0, 3)) continue;
    if (text.substr(3, 2) == ", ") {  // IMF-fixdate: Sun, 06 Nov 1994 08:49:37 GMT
      Reader reader(text.substr(5));
      const unsigned day = reader.digits(2);
      reader.literal(" ");
      const unsigned month = reader.month();
      reader.literal(" ");
      const unsigned year = reader.digits(4);
      reader.literal(" ");
      const unsigned seconds = reader.time_of_day();
      reader.literal(" GMT");
      if (!reader.finished()) return std::nullopt;
      return make_time(year, month, day, seconds);
    }
    if (text.substr(3, 1) == " ") {  // asctime: Sun Nov  6 08:49:37 1994
      Reader reader(text.substr(4));
      const unsigned month = reader.month();
      reader.literal(" ");
      const unsigned day = reader.padded_day();
      reader.literal(" ");
      const unsigned seconds = reader.time_of_day();
      reader.literal(" ");
      const unsigned year = reader.digits(4);
      if (!reader.finished()) return std::nullopt;
      return make_time(year, month, day, seconds);
    }
    // RFC 850: Sunday, 06-Nov-94 08:49:37 GMT
    Reader reader(text);
    reader.literal(day_name);
    reader.literal(", ");
    const unsigned day = reader.digits(2);
    reader.literal("-");
    const unsigned month = reader.month();
    reader.literal("-");
    const unsigned short_year = reader.digits(2);
    reader.literal(" ");
    const unsigned seconds = reader.time_of_day();
    reader.literal(" GMT");
    if (!reader.finished()) return std::nullopt;
    // The latest year with these two digits that is not more than 50 years ahead.
    const std::int64_t today = now / 86400;
    const Civil civil = civil_from_days(today);
    const std::int64_t limit = days_from_civil(civil.year + 50, civil.month, civil.day) * 86400 + now % 86400;
    std::int64_t century = 9900;
    while (century > 1600 && days_from_civil(century + short_year, month, day) * 86400 + seconds > limit) century -= 100;
    return make_time(century + short_year, month, day, seconds);
  }
  return std::nullopt;
}

void format_date(std::time_t time, char (&out)[kDateLength]) {
  constexpr std::int64_t kFirst = days_from_civil(1, 1, 1) * 86400;
  constexpr std::int64_t kLast = days_from_civil(10000, 1, 1) * 86400 - 1;
  std::int64_t seconds = time < kFirst ? kFirst : time > kLast ? kLast : static_cast<std::int64_t>(time);
  std::int64_t days = seconds / 86400;
  seconds %= 86400;
  if (seconds < 0) seconds += 86400, --days;
  const Civil civil = civil_from_days(days);
  const auto weekday = static_cast<std::size_t>(((days + 4) % 7 + 7) % 7);  // 1970-01-01 was a Thursday

  const auto two = [](char* at, std::int64_t value) {
    at[0] = static_cast<char>('0' + value / 10);
    at[1] = static_cast<char>('0' + value % 10);
  };
  std::memcpy(out, "Ddd, 00 Mmm 0000 00:00:00 GMT", kDateLength);
  std::memcpy(out, kDays[weekday].data(), 3);
  two(out + 5, civil.day);
  std::memcpy(out + 8, kMonths.data() + (civil.month - 1) * 3, 3);
  two(out + 12, civil.year / 100);
  two(out + 14, civil.year % 100);
  two(out + 17, seconds / 3600);
  two(out + 20, seconds / 60 % 60);
  two(out + 23, seconds % 60);
}

}  // namespace telltale::http
