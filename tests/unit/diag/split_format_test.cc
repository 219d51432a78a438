// SPDX-License-Identifier: Apache-2.0
// A format taken apart gives what fmt and the escaping of the whole give, or refuses.
#include <catch2/catch.hpp>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "lib/diag/src/escape.h"
#include "lib/diag/src/line.h"
#include "lib/diag/src/split_format.h"
#include "record_bytes.h"

using namespace telltale::diag;

namespace {

std::string whole(std::string_view format, const RecordBytes& record, RecordHeader header) {
  RecordReader arguments(record.data(), header);
  LineWriter writer;
  std::string out;
  append_escaped(out, writer.text(format, arguments));
  return out;
}

// The text by parts, or "refused". What stood in the buffer before is there afterwards.
std::string by_parts(std::string_view format, const RecordBytes& record, RecordHeader header) {
  const SplitFormat split(format);
  if (!split.usable()) return "refused";
  TextBuffer out;
  out += "before";
  RecordReader arguments(record.data(), header);
  bool done = split.append(out, arguments);
  CHECK(out.view().substr(0, 6) == "before");
  if (!done) CHECK(out.size() == 6);
  return done ? std::string(out.from(6)) : "refused";
}

void same(std::string_view format, const RecordBytes& record) {
  INFO("format: " << format);
  CHECK(by_parts(format, record, record.header()) == whole(format, record, record.header()));
}
void refused(std::string_view format, const RecordBytes& record) {
  INFO("format: " << format);
  CHECK(by_parts(format, record, record.header()) == "refused");
}

// Small: there is one for each list of types.
template <class... A>
void check_same(std::string_view format, const A&... a) { same(format, RecordBytes(a...)); }
template <class... A>
void check_refused(std::string_view format, const A&... a) { refused(format, RecordBytes(a...)); }

}  // namespace

TEST_CASE("SplitFormat: every kind of argument is as fmt prints it", "[diag][split_format]") {
  int seven = 7;
  const void* address = &seven;
  check_same("{} {} {}", -1, 42u, std::numeric_limits<std::uint64_t>::max());
  check_same("{}|{}", std::numeric_limits<std::int64_t>::min(), std::int8_t{-5});
  check_same("{} {} {} {}", true, false, 'x', '\n');
  check_same("{} {}", address, nullptr);
  check_same("{} {} {}", "literal", std::string("string"), std::string_view("a\0b", 3));
  check_same("a\n\\{{{}}}\x1b", 1);
  check_same("{:}", 1);
  check_same("", 1, 2);
  check_same("no arguments");
  check_same("more arguments {}", 1, 2, 3);
}

TEST_CASE("SplitFormat: doubles are as fmt prints them", "[diag][split_format]") {
  for (double d : {0.0, -0.0, 1.0, 0.1, 1.5, 123.456, 1e15, 1e16, 1e17, 0.0001, 0.00001, 1e300, -1e-300, 5e-324, 0.1 + 0.2,
                   std::numeric_limits<double>::max(), std::numeric_limits<double>::min(),
                   std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
                   std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::quiet_NaN()}) {
    check_same("{}", d);
  }
  std::mt19937_64 random(7);
  for (int i = 0; i < 20'000; ++i) {
    std::uint64_t bits = random();
    double any;
    std::memcpy(&any, &bits, sizeof any);
    check_same("{}", any);
    auto decimal = static_cast<double>(static_cast<std::int64_t>(bits) >> (bits & 63));
    check_same("{}", decimal / std::pow(10, static_cast<double>(random() % 8)));
    check_same("{}", decimal * 0.001);
  }
}

TEST_CASE("SplitFormat: a specification is left to fmt", "[diag][split_format]") {
  check_same("{:>6}|{:<6}|{:^6}|{:06d}|{:#x}", 1, "a", "b", 42, 255);
  check_same("{:.2f} {:.3} {:c}", 2.0 / 3, "abcdef", 10);
  check_same("{:c}{:s}", 'x', true);
}

TEST_CASE("SplitFormat: fields follow the text, escaped in name and value", "[diag][split_format]") {
  check_same("stored {}", "k", field("status", 200), field("fresh", true), field("k\ney", std::string("a\rb")), field("d", 0.5));
  check_same("", field("only", 1));
}

TEST_CASE("SplitFormat: what a string has lost is told", "[diag][split_format]") {
  std::string large(kStringBytesMax + 5, 's');
  check_same("{}!", large);
  check_same("{}", 1, field("f", large));
  check_refused("{:.3}", large);
}

TEST_CASE("SplitFormat: refuses what is not plain", "[diag][split_format]") {
  check_refused("{1} {0}", 1, 2);
  check_refused("{0}", 1);
  check_refused("{:{}}", 5, 4);
  check_refused("{name}", 5);
  check_refused("{", 1);
  check_refused("}", 1);
  check_refused("{} {}", 1);
  check_refused("{}", field("f", 1));
  check_refused("{:d}", "text");
  check_refused("{:1000}", 1);
  check_refused(std::string(64 * 1024 + 1, 'f'));
  check_same(std::string(64 * 1024, 'f'));
}

TEST_CASE("SplitFormat: refuses where a UTF-8 sequence may reach over a border", "[diag][split_format]") {
  check_same("ü{}ü", "ü");
  check_same("{}{}", "ü", "ü");
  check_same("{} {}", "\xc3", "\xbc");
  check_refused("\xc3{}", "\xbc");
  check_refused("{}\xbc", "\xc3");
  check_refused("{}{}", "\xc3", "\xbc");
  check_refused("{}{}{}", "\xe2", "", "\x82\xac");
  check_refused("{}{}", '\xc3', '\xbc');
  check_refused("{:>2}{}", "\xc3", "\xbc");
}

namespace {

using Value = std::variant<long long, unsigned long long, double, bool, char, const void*, std::string>;

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  std::size_t below(std::size_t n) { return engine_() % n; }
  std::string text() {
    static const std::array<std::string, 12> parts{"a", "{{", "}}", " ", "\n", "\\", "ü", "\xc3", "\xbc", "\xe2\x80\xae", "\x1b[0m", "host"};
    std::string out;
    for (std::size_t n = below(4); n > 0; --n) out += parts[below(parts.size())];
    return out;
  }
  std::string format() {
    static const std::array<std::string, 12> fields{"{}", "{}", "{}", "{}", "{:}", "{:>4}", "{:x}", "{:.2f}", "{0}", "{:{}}", "{", "}"};
    std::string out = text();
    for (std::size_t n = below(5); n > 0; --n) {
      // Mostly the first ones, else nearly every format would be refused.
      out += fields[below(4) == 0 ? below(fields.size()) : below(5)];
      out += text();
    }
    return out;
  }
  Value value() {
    switch (below(7)) {
      case 0: return static_cast<long long>(engine_() >> below(64)) - 1000;
      case 1: return static_cast<unsigned long long>(engine_() >> below(64));
      case 2: return static_cast<double>(engine_() >> 20) / 64;
      case 3: return below(2) == 0;
      case 4: return static_cast<char>(engine_());
      case 5: return reinterpret_cast<const void*>(engine_());
      default: return below(8) == 0 ? std::string(kStringBytesMax + below(3), 'l') : text();
    }
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace

TEST_CASE("SplitFormat: random formats and arguments are as fmt has them, or are refused", "[diag][split_format]") {
  Random random(20261130);
  int taken = 0;
  constexpr int kTried = 20'000;
  for (int i = 0; i < kTried; ++i) {
    std::string format = random.format();
    RecordBytes record;
    for (int n = 0; n < 4; ++n) std::visit([&record](const auto& v) { record.add(v); }, random.value());
    RecordHeader header = record.header();
    header.argument_count = static_cast<std::uint8_t>(random.below(5));
    std::string parts = by_parts(format, record, header);
    if (parts == "refused") continue;
    ++taken;
    INFO("format: " << format);
    CHECK(parts == whole(format, record, header));
  }
  CHECK(taken > kTried / 4);
}
