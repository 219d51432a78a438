// SPDX-License-Identifier: Apache-2.0
// See rolled_name.h.
#include "rolled_name.h"

#include <charconv>

#include <fmt/format.h>

namespace telltale::diag {

using namespace std::chrono;

std::string rolled_name(std::string_view base, sys_seconds first_entry, std::uint64_t sequence) {
  sys_days day = floor<days>(first_entry);
  year_month_day date{day};
  hh_mm_ss time{first_entry - day};
  return fmt::format("{}.{:04}{:02}{:02}T{:02}{:02}{:02}Z.{:06}", base, static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), time.hours().count(),
                     time.minutes().count(), time.seconds().count(), sequence);
}

std::optional<RolledName> parse_rolled_name(std::string_view base, std::string_view name) {
  if (!name.starts_with(base)) return std::nullopt;
  std::string_view rest = name.substr(base.size());
  RolledName parsed;
  if (rest.ends_with(kPartSuffix)) {
    parsed.form = RolledForm::kPart;
    rest.remove_suffix(kPartSuffix.size());
  } else if (rest.ends_with(kCompressedSuffix)) {
    parsed.form = RolledForm::kCompressed;
    rest.remove_suffix(kCompressedSuffix.size());
  }
  // .YYYYMMDDTHHMMSSZ.NNNNNN
  constexpr std::size_t kTime = 1, kSequence = 18, kDigitsLeast = 6, kDigitsMost = 18;
  if (rest.size() < kSequence + kDigitsLeast || rest.size() > kSequence + kDigitsMost) return std::nullopt;
  auto number = [&rest](std::size_t at, std::size_t digits) -> std::optional<std::uint64_t> {
    std::uint64_t value = 0;
    for (char c : rest.substr(at, digits)) {
      if (c < '0' || c > '9') return std::nullopt;
      value = value * 10 + static_cast<std::uint64_t>(c - '0');
    }
    return value;
  };
  auto y = number(kTime, 4), mo = number(kTime + 4, 2), d = number(kTime + 6, 2), h = number(kTime + 9, 2),
       mi = number(kTime + 11, 2), s = number(kTime + 13, 2), n = number(kSequence, rest.size() - kSequence);
  if (!y || !mo || !d || !h || !mi || !s || !n) return std::nullopt;
  year_month_day date{year(static_cast<int>(*y)), month(static_cast<unsigned>(*mo)), day(static_cast<unsigned>(*d))};
  if (!date.ok() || *h > 23 || *mi > 59 || *s > 59) return std::nullopt;
  parsed.first_entry = sys_days(date) + hours(*h) + minutes(*mi) + seconds(*s);
  parsed.sequence = *n;
  // Also the points, the letters, and that no more zeros stand in front than we write.
  if (rolled_name(base, parsed.first_entry, parsed.sequence).substr(base.size()) != rest) return std::nullopt;
  return parsed;
}

}  // namespace telltale::diag
