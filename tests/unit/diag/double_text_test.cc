// SPDX-License-Identifier: Apache-2.0
// Every double has the text that fmt gives it.
#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>

#include <fmt/format.h>

#include "lib/diag/src/double_text.h"

using namespace telltale::diag;

namespace {

void check(double value) {
  for (double d : {value, -value}) {
    char room[kDoubleBytesMax + 8];
    std::memset(room, '#', sizeof room);
    char* end = put_double(room, d);
    const std::string text(room, end), expected = fmt::format("{}", d);
    if (text != expected) FAIL("text is " << text << ", not " << expected);
    if (room[kDoubleBytesMax] != '#') FAIL("wrote beyond its room: " << text);
  }
}

}  // namespace

TEST_CASE("double: numbers at every edge are as fmt has them", "[diag][double]") {
  using limits = std::numeric_limits<double>;
  for (double d : {0.0, 1.0, 0.1, 0.5, 1.5, 10.0, 100.25, 123.456, 0.1 + 0.2, 1.0 / 3, 9.999999, 0.999999, 0.9999995, 0.001, 0.0001,
                   0.00001, 0.000001, 0.0010000000000000002, 1e5, 1e9, 999999999.999999, 1e15, 1e16, 1e17, 1e300, 5e-324,
                   limits::max(), limits::min(), limits::denorm_min(), limits::epsilon(), limits::infinity(), limits::quiet_NaN()}) {
    check(d);
    check(std::nextafter(d, 0.0));
    check(std::nextafter(d, limits::max()));
  }
}

TEST_CASE("double: decimals of every length, and their neighbours, are as fmt has them", "[diag][double]") {
  for (std::int64_t n = 1; n < 30'000; ++n) {
    check(static_cast<double>(n) / 1000);
    check(static_cast<double>(n) * 0.001);
    check(static_cast<double>(n) / 1'000'000);
  }
  std::mt19937_64 random(11);
  for (int i = 0; i < 200'000; ++i) {
    const auto digits = static_cast<std::int64_t>(random() >> 1) >> random() % 60;
    const double decimal = static_cast<double>(digits) / std::pow(10.0, static_cast<double>(random() % 9));
    check(decimal);
    check(std::nextafter(decimal, 0.0));
  }
}

TEST_CASE("double: any bits are as fmt has them", "[diag][double]") {
  std::mt19937_64 random(12);
  for (int i = 0; i < 200'000; ++i) {
    const std::uint64_t bits = random();
    double any;
    std::memcpy(&any, &bits, sizeof any);
    check(any);
  }
}
