// SPDX-License-Identifier: Apache-2.0
#include "control/ttctl/duration.h"

#include <charconv>

namespace telltale::control {

std::optional<std::uint64_t> parse_duration(std::string_view text) {
  constexpr std::uint64_t kSecond = 1000, kDay = 86'400 * kSecond, kMost = kDurationDaysMax * kDay;
  std::uint64_t n = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc() || n == 0 || n > kMost) return std::nullopt;
  std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  std::uint64_t each = unit == "ms"  ? 1
                       : unit == "s" ? kSecond
                       : unit == "m" ? 60 * kSecond
                       : unit == "h" ? 3600 * kSecond
                       : unit == "d" ? kDay
                                     : 0;
  if (each == 0 || n > kMost / each) return std::nullopt;
  return n * each;
}

}  // namespace telltale::control
