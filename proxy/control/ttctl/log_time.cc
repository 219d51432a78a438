// SPDX-License-Identifier: Apache-2.0
#include "control/ttctl/log_time.h"

#include <chrono>

#include "control/ttctl/duration.h"

namespace telltale::control {

namespace {

class Scan {
 public:
  explicit Scan(std::string_view text) : rest_(text) {}

  bool number(std::size_t digits, unsigned& value) {
    if (rest_.size() < digits) return false;
    value = 0;
    for (char c : rest_.substr(0, digits)) {
      if (c < '0' || c > '9') return false;
      value = value * 10 + static_cast<unsigned>(c - '0');
    }
    rest_.remove_prefix(digits);
    return true;
  }
  bool one_of(std::string_view chars) {
    if (rest_.empty() || chars.find(rest_[0]) == std::string_view::npos) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

}  // namespace

std::optional<std::int64_t> parse_log_time(std::string_view text, std::int64_t now_ns) {
  using namespace std::chrono;
  if (auto ago_ms = parse_duration(text)) return now_ns - static_cast<std::int64_t>(*ago_ms) * 1'000'000;
  Scan scan(text);
  unsigned y = 0, mo = 0, d = 0, h = 0, mi = 0, s = 0;
  std::int64_t ns = 0;
  if (!scan.number(4, y) || !scan.one_of("-") || !scan.number(2, mo) || !scan.one_of("-") || !scan.number(2, d)) return {};
  if (scan.one_of("T ")) {
    if (!scan.number(2, h) || !scan.one_of(":") || !scan.number(2, mi)) return {};
    if (scan.one_of(":")) {
      if (!scan.number(2, s)) return {};
      if (scan.one_of(".")) {
        unsigned digit = 0;
        if (!scan.number(1, digit)) return {};
        std::int64_t unit = 100'000'000;
        do {
          ns += digit * unit;
          unit /= 10;
        } while (unit > 0 && scan.number(1, digit));
      }
    }
    (void)scan.one_of("Z");
  }
  year_month_day date{year(static_cast<int>(y)), month(mo), day(d)};
  if (!scan.at_end() || !date.ok() || y < 1970 || y > 2200 || h > 23 || mi > 59 || s > 59) return {};
  auto time = sys_days(date) + hours(h) + minutes(mi) + seconds(s);
  return duration_cast<nanoseconds>(time.time_since_epoch()).count() + ns;
}

}  // namespace telltale::control
