// SPDX-License-Identifier: Apache-2.0
// From the bytes of a record to its line.
#include <catch2/catch.hpp>

#include <limits>
#include <regex>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

#include "lib/diag/src/line.h"
#include "record_bytes.h"

using namespace telltale::diag;

namespace {

struct Address {
  int port;
};
struct Block {
  std::size_t bytes;
};
struct Thrower {};

}  // namespace

template <>
struct fmt::formatter<Address> : fmt::formatter<std::string_view> {
  auto format(const Address& a, format_context& c) const { return fmt::format_to(c.out(), "[::1]:{}", a.port); }
};
template <>
struct fmt::formatter<Block> : fmt::formatter<std::string_view> {
  auto format(const Block& b, format_context& c) const { return fmt::format_to(c.out(), "{}", std::string(b.bytes, 'b')); }
};
template <>
struct fmt::formatter<Thrower> : fmt::formatter<std::string_view> {
  auto format(const Thrower&, format_context& c) const -> decltype(c.out()) { throw std::runtime_error("no"); }
};
struct Dump {
  const char* text;
};
template <>
struct fmt::formatter<Dump> : fmt::formatter<std::string_view> {
  auto format(const Dump& d, format_context& c) const { return fmt::format_to(c.out(), "{}", d.text); }
};
template <>
inline constexpr bool telltale::diag::is_lines<Dump> = true;
template <>
inline constexpr std::size_t telltale::diag::eager_bytes_max<Block> = 16384;

namespace {

template <class... A>
std::string text_of(std::string_view format, const A&... a) {
  RecordBytes record(a...);
  RecordReader arguments(record.data(), record.header());
  LineWriter writer;
  return std::string(writer.text(format, arguments));
}

std::string line_of(const LineHead& head, std::string_view text = "text", ShowLocation show = ShowLocation::kDebugLines) {
  std::string out;
  LineWriter().append(out, head, show, text);
  return out;
}

LineHead whole_head() {
  LineHead head;
  head.wall_ns = 1'796'032'800'123'456'789;
  head.thread = "worker-0";
  head.origin = {"http", "", "http1/session.cc", "on_request", 95};
  head.connection = 12;
  head.transaction = 345;
  head.plugin = "header_note";
  return head;
}

}  // namespace

TEST_CASE("line: is what the documentation says, to the byte", "[diag][line]") {
  CHECK(line_of(whole_head()) ==
        "[2026-11-30T10:00:00.123456Z] [worker-0] DEBUG (http) <http1/session.cc:95 (on_request)> "
        "{c12 t345 header_note} text\n");
}

TEST_CASE("line: dates are those of the calendar, leap days and years included", "[diag][line]") {
  struct Case {
    std::int64_t second;
    const char* text;
  };
  for (const Case& c : {Case{0, "[1970-01-01T00:00:00.000000Z]"}, Case{951'782'399, "[2000-02-28T23:59:59.000000Z]"},
                        Case{951'782'400, "[2000-02-29T00:00:00.000000Z]"}, Case{1'709'251'199, "[2024-02-29T23:59:59.000000Z]"},
                        Case{1'798'761'599, "[2026-12-31T23:59:59.000000Z]"}, Case{4'107'542'400, "[2100-03-01T00:00:00.000000Z]"}}) {
    LineHead head = whole_head();
    head.wall_ns = c.second * 1'000'000'000;
    CHECK(line_of(head).substr(0, 29) == c.text);
  }
}

TEST_CASE("line: parts there is nothing to say for are left out", "[diag][line]") {
  LineHead head = whole_head();
  head.connection = 0;
  CHECK(line_of(head).find(" {t345 header_note} text\n") != std::string::npos);
  head.transaction = 0;
  CHECK(line_of(head).find(" {header_note} text\n") != std::string::npos);
  head.plugin = {};
  CHECK(line_of(head).find("(on_request)> text\n") != std::string::npos);
  head.connection = 7;
  CHECK(line_of(head).find(" {c7} text\n") != std::string::npos);
  head.origin.function = {};
  CHECK(line_of(head).find("<http1/session.cc:95> {c7}") != std::string::npos);
  head.origin.tag = {};
  CHECK(line_of(head).find("] DEBUG <http1") != std::string::npos);
  head.origin.file = {};
  CHECK(line_of(head).find("] DEBUG {c7} text\n") != std::string::npos);
}

TEST_CASE("line: the place is shown on debug lines, on all, or on none", "[diag][line]") {
  LineHead debug = whole_head(), note = whole_head();
  note.level = Level::kNote;
  auto shown = [](const std::string& line) { return line.find("<http1/session.cc:95") != std::string::npos; };
  CHECK(shown(line_of(debug, "x", ShowLocation::kDebugLines)));
  CHECK_FALSE(shown(line_of(note, "x", ShowLocation::kDebugLines)));
  CHECK(shown(line_of(note, "x", ShowLocation::kAllLines)));
  CHECK_FALSE(shown(line_of(debug, "x", ShowLocation::kNever)));
}

TEST_CASE("line: each level has its word", "[diag][line]") {
  const char* words[] = {"DEBUG", "STATUS", "NOTE", "WARNING", "ERROR", "FATAL", "ALERT", "EMERGENCY"};
  for (std::size_t i = 0; i < kLevels; ++i) {
    LineHead head = whole_head();
    head.level = static_cast<Level>(i);
    CHECK(line_of(head).find(std::string("[worker-0] ") + words[i] + " (http)") != std::string::npos);
  }
}

TEST_CASE("line: nothing that is printed can end, forge or colour it (AC-34, B57)", "[diag][line]") {
  LineHead head = whole_head();
  std::string evil = "a\r\n[2026-11-30T10:00:00.000000Z] [x] ERROR forged\x1b[31m\x7f\xc2\x9b";
  head.thread = head.origin.tag = head.origin.file = head.origin.function = head.plugin = evil;
  std::string line = line_of(head, text_of("{}", evil, field("name", evil)));
  CHECK(std::count(line.begin(), line.end(), '\n') == 1);
  CHECK(line.back() == '\n');
  CHECK(line.find("\\r\\n[2026") != std::string::npos);
  for (char c : line.substr(0, line.size() - 1)) CHECK(static_cast<unsigned char>(c) >= 0x20);
  CHECK(line.find('\x7f') == std::string::npos);
  CHECK(line.find("\xc2\x9b") == std::string::npos);
}

TEST_CASE("line: every kind of argument is printed as fmt prints it", "[diag][line]") {
  int seven = 7;
  const void* address = &seven;
  const char* null_text = nullptr;
  CHECK(text_of("{} {} {}", -1, 42u, std::numeric_limits<std::uint64_t>::max()) == "-1 42 18446744073709551615");
  CHECK(text_of("{} {}", std::numeric_limits<std::int64_t>::min(), std::int8_t{-5}) == "-9223372036854775808 -5");
  CHECK(text_of("{} {:.2f} {}", 1.5, 2.0 / 3, 1e300) == "1.5 0.67 1e+300");
  CHECK(text_of("{} {} {}", true, false, 'x') == "true false x");
  CHECK(text_of("{}", address) == fmt::format("{}", address));
  CHECK(text_of("{}", nullptr) == "0x0");
  CHECK(text_of("{} {} {}", "literal", std::string("string"), std::string_view("view")) == "literal string view");
  CHECK(text_of("{}", null_text) == "(null)");  // AC-30
  CHECK(text_of("{}", Address{80}) == "[::1]:80");
  CHECK(text_of("{:>6}|{:<6}|{:^6}|{:06d}|{:#x}", 1, "a", "b", 42, 255) == "     1|a     |  b   |000042|0xff");
  CHECK(text_of("{1} {0} {{}}", 1, 2) == "2 1 {}");
  CHECK(text_of("{:{}}", 5, 4) == "   5");
  CHECK(text_of("no arguments") == "no arguments");
  CHECK(text_of("") == "");
}

TEST_CASE("line: fields follow the text as name=value", "[diag][line]") {
  CHECK(text_of("stored {}", "k", field("status", 200), field("fresh", true), field("key", std::string("a b"))) ==
        "stored k status=200 fresh=true key=a b");
  CHECK(text_of("only", field("peer", Address{1})) == "only peer=[::1]:1");
  std::string long_name(kFieldNameBytesMax + 1, 'n');
  CHECK(text_of("", field(long_name.c_str(), 1)) == " " + long_name.substr(1) + "=1");
}

TEST_CASE("line: a NUL in a string hides nothing behind it", "[diag][line]") {
  CHECK(text_of("{} {}", std::string_view("ab\0cd", 5), 7) == std::string("ab\0cd 7", 7));
}

TEST_CASE("line: a string is kept up to its limit, beyond it the lost bytes are told (AC-27)", "[diag][line]") {
  std::string fits(kStringBytesMax, 's');
  CHECK(text_of("{}!", fits) == fits + "!");
  CHECK(text_of("{}!", fits + "s") == fits + "...[+1 bytes]!");
  CHECK(text_of("{} {}", std::string(100'000, 'x'), 5) ==
        std::string(kStringBytesMax, 'x') + "...[+" + std::to_string(100'000 - kStringBytesMax) + " bytes] 5");
  CHECK(text_of("", field("f", fits + "ab")) == " f=" + fits + "...[+2 bytes]");
  // The format decides how much is wanted.
  CHECK(text_of("{:.3}", std::string(5000, 'x')) == "xxx");
}

TEST_CASE("line: a cut never tears UTF-8", "[diag][line]") {
  for (std::string_view letter : {"\xc3\xbc", "\xe2\x82\xac", "\xf0\x9f\x98\x80"}) {
    for (std::size_t shift = 0; shift < letter.size(); ++shift) {
      std::string text(shift, 'a');
      while (text.size() <= kStringBytesMax + 8) text += letter;
      std::size_t kept = shift + (kStringBytesMax - shift) / letter.size() * letter.size();
      CHECK(text_of("{}", text) == text.substr(0, kept) + fmt::format("...[+{} bytes]", text.size() - kept));
    }
  }
  // What is no UTF-8 is cut at the limit itself.
  std::string stray(kStringBytesMax + 10, '\x80');
  CHECK(text_of("{}", stray) == stray.substr(0, kStringBytesMax) + "...[+10 bytes]");
}

TEST_CASE("line: a type formatted at the call has its own limit and is cut likewise", "[diag][line]") {
  CHECK(text_of("{}", Block{16384}) == std::string(16384, 'b'));
  CHECK(text_of("{}", Block{16385}) == std::string(16384, 'b') + "...[+1 bytes]");
}

TEST_CASE("line: a formatter that throws costs its value, not the caller", "[diag][line]") {
  CHECK(text_of("{} {}", Thrower{}, 3) == "(its formatter threw) 3");
}

TEST_CASE("line: a format that does not fit its arguments is shown with them", "[diag][line]") {
  CHECK(text_of("{} {}", 1) == "[bad format: argument not found] {} {} [arguments: 1]");
  CHECK(text_of("{:d}", "x", field("f", 2)) == "[bad format: invalid type specifier] {:d} [arguments: x] f=2");
  CHECK(text_of("{") == "[bad format: invalid format string] { [arguments: ]");
}

TEST_CASE("line: a width out of all proportion is cut, not allocated", "[diag][line]") {
  std::string text = text_of("{:{}}", 1, 1'000'000);
  CHECK(text.size() < kTextBytesMax + 40);
  CHECK(text.ends_with(fmt::format("...[+{} bytes]", 1'000'000 - kTextBytesMax)));
}

TEST_CASE("RecordReader: a record that ends inside an argument ends the walk there", "[diag][line]") {
  RecordBytes record(1, "text", 'c', true, 2.5, field("name", "value"), field("n", 3u));
  for (std::size_t bytes = sizeof(RecordHeader); bytes <= record.used_bytes(); ++bytes) {
    std::vector<char> torn(record.data(), record.data() + bytes);
    RecordHeader header = record.header();
    header.size_bytes = static_cast<std::uint32_t>(bytes);
    header.argument_count = 255;
    RecordReader reader(torn.data(), header);
    Argument a;
    int n = 0;
    while (reader.next(a)) ++n;
    CHECK(n <= 7);
    CHECK((n == 7) == (bytes == record.used_bytes()));
  }
}

TEST_CASE("RecordReader: an unknown kind ends the walk", "[diag][line]") {
  RecordBytes record(1);
  std::vector<char> bytes(record.data(), record.data() + record.header().size_bytes);
  for (int kind : {0, 10, 255}) {
    bytes[sizeof(RecordHeader)] = static_cast<char>(kind);
    RecordReader reader(bytes.data(), record.header());
    Argument a;
    CHECK_FALSE(reader.next(a));
  }
}

namespace {

template <class... A>
std::string lines_of(std::string_view format, const A&... a) {
  RecordBytes record(a...);
  RecordReader arguments(record.data(), record.header());
  LineWriter writer;
  std::string out;
  const std::string_view text = writer.text(format, arguments);
  writer.append(out, whole_head(), ShowLocation::kDebugLines, text, writer.lines_bytes());
  return out;
}

}  // namespace

TEST_CASE("Line: a dump becomes one line per line of it, each with all that stands before the text", "[diag][line]") {
  const std::string head = line_of(whole_head(), "");
  const std::string before = head.substr(0, head.size() - 1);
  CHECK(lines_of("{}", Dump{"a: 1\nb: 2\x1b\nc: 3"}) == before + "a: 1\n" + before + "b: 2\\x1b\n" + before + "c: 3\n");
  CHECK(lines_of("{}", Dump{"a"}, field("status", 200)) == before + "a status=200\n");
  CHECK(lines_of("{}", Dump{""}) == before + "\n");
}

TEST_CASE("Line: a line feed elsewhere than in a dump alone never begins a line", "[diag][line]") {
  const std::string head = line_of(whole_head(), "");
  const std::string before = head.substr(0, head.size() - 1);
  CHECK(lines_of("{}", "a\nb") == before + "a\\nb\n");
  CHECK(lines_of("{} {}", Dump{"a\nb"}, 1) == before + "a\\nb 1\n");
  CHECK(lines_of("got {}", Dump{"a\nb"}) == before + "got a\\nb\n");
  CHECK(lines_of("{}", Dump{"a"}, field("text", "x\ny")) == before + "a text=x\\ny\n");
}
