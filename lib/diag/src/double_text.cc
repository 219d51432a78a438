// SPDX-License-Identifier: Apache-2.0
// See double_text.h; tested in double_text_test.cc, against fmt.
#include "double_text.h"

#include <charconv>
#include <cmath>
#include <cstdint>

#include <fmt/compile.h>

namespace telltale::diag {

namespace {

constexpr std::int64_t kScale = 1'000'000;
constexpr int kDecimals = 6;
constexpr double kLeast = 0.001, kLimit = 1e9;  // below kLeast fmt may write an exponent; kLimit * kScale has 15 digits

}  // namespace

char* put_double(char* at, double value) noexcept {
  const double size = std::fabs(value);
  if (size >= kLeast && size < kLimit) {
    const auto scaled = static_cast<std::int64_t>(size * kScale + 0.5);
    if (static_cast<double>(scaled) / kScale == size) {
      if (value < 0) *at++ = '-';
      at = std::to_chars(at, at + kDoubleBytesMax - 1, scaled / kScale).ptr;
      auto fraction = static_cast<std::uint32_t>(scaled % kScale);
      if (fraction == 0) return at;
      *at++ = '.';
      int digits = kDecimals;
      if (fraction % 1000 == 0) {
        fraction /= 1000;
        digits -= 3;
      }
      for (; fraction % 10 == 0; fraction /= 10) --digits;
      for (int i = digits; i-- > 0; fraction /= 10) at[i] = static_cast<char>('0' + fraction % 10);
      return at + digits;
    }
  }
  return fmt::format_to(at, FMT_COMPILE("{}"), value);
}

}  // namespace telltale::diag
