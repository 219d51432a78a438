// SPDX-License-Identifier: Apache-2.0
// printf-style lines, compared with vsnprintf() on the same arguments.
#include <telltale/diag/printf.h>

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <telltale/diag/level.h>

#include "tests/unit/diag/output_capture.h"

#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"

namespace telltale::diag {
namespace {

void line(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  write_printf(Located{Level::kDebug, "printf_test", "file.cc", "run", 7, format}, arguments);
  va_end(arguments);
}

// The text of the one line that was written.
std::string text_of(Capture& capture) {
  std::string whole = capture.text();
  const std::string before = "DEBUG (printf_test) <file.cc:7 (run)> ";
  std::size_t at = whole.find(before);
  REQUIRE(at != std::string::npos);
  REQUIRE(whole.ends_with('\n'));
  REQUIRE(whole.find('\n') == whole.size() - 1);
  return whole.substr(at + before.size(), whole.size() - at - before.size() - 1);
}

// The same, behind a line of another kind.
std::string text_of_last(Capture& capture) {
  std::string whole = capture.text();
  const std::string before = "DEBUG (printf_test) <file.cc:7 (run)> ";
  std::size_t at = whole.find(before);
  REQUIRE(at != std::string::npos);
  return whole.substr(at + before.size(), whole.find('\n', at) - at - before.size());
}

template <class... A>
std::string ours(Capture& capture, const char* format, A... a) {
  line(format, a...);
  return text_of(capture);
}
template <class... A>
std::string theirs(const char* format, A... a) {
  char text[8192];
  std::snprintf(text, sizeof text, format, a...);
  return text;
}

}  // namespace

#define SAME(...) CHECK(ours(capture, __VA_ARGS__) == theirs(__VA_ARGS__))

TEST_CASE("Printf: numbers come out as printf writes them", "[diag][printf]") {
  Capture capture;
  SAME("%d %i %u", 1, -2, 3U);
  SAME("[%5d] [%-5d] [%05d] [%+d] [% d] [%+5d] [%-+5d]", 42, 42, 42, 42, 42, 42, 42);
  SAME("[%05d] [%-05d] [%+05d] [% 05d]", -42, -42, 42, 42);
  SAME("%x %X %o %#x %#X %#o", 255U, 255U, 8U, 255U, 255U, 8U);
  SAME("%#x %#o %x", 0U, 0U, 0U);
  SAME("[%8x] [%-8x] [%08x] [%#08x] [%#-8x|]", 255U, 255U, 255U, 255U, 255U);
  SAME("%x %u %o", -1, -1, -1);
  SAME("%hhd %hhu %hd %hu", 300, 300, 70000, 70000);
  SAME("%ld %lu %lld %llu", LONG_MIN, ULONG_MAX, LLONG_MIN, ULLONG_MAX);
  SAME("%zu %zd %td %jd %ju", SIZE_MAX, ssize_t{-1}, std::ptrdiff_t{-5}, INTMAX_MIN, UINTMAX_MAX);
  SAME("%" PRIu64 " %" PRId64 " %" PRIx64, std::uint64_t{1} << 63, INT64_MIN, UINT64_MAX);
  SAME("[%.5d] [%.0d] [%8.3d] [%-8.3x]", 42, 0, -7, 255U);
  SAME("[%*d] [%-*d] [%*d]", 6, 1, 6, 2, -6, 3);
  SAME("[%.*d]", 4, 7);
  SAME("%+u % u", 5U, 6U);
}

TEST_CASE("Printf: floating point comes out as printf writes it", "[diag][printf]") {
  Capture capture;
  SAME("%f %e %g %F %E %G", 1.5, 1.5, 1.5, 1.5, 1.5, 1.5);
  SAME("[%.2f] [%8.3f] [%-8.3f] [%08.3f] [%+.1f] [% .1f] [%.0f]", 3.14159, 3.14159, 3.14159, -3.14159, 2.0, 2.0, 2.5);
  SAME("%g %g %g %g", 1e-5, 1e20, 100000.0, 1234567.0);
  SAME("%f %e %g", HUGE_VAL, -HUGE_VAL, std::numeric_limits<double>::quiet_NaN());
  SAME("%a %.3A", 1.0, 3.5);
  SAME("[%*.*f]", 9, 2, 2.71828);
  CHECK(ours(capture, "%.2Lf", 2.5L) == "2.50");
}

TEST_CASE("Printf: characters, strings and pointers come out as printf writes them", "[diag][printf]") {
  Capture capture;
  int here = 0;
  SAME("%c%c [%3c] [%-3c]", 'o', 'k', 'x', 'y');
  SAME("%s [%5s] [%-5s] [%.2s] [%5.1s] [%.0s]", "text", "ab", "ab", "abcdef", "xyz", "gone");
  SAME("[%*s] [%-*s] [%.*s] [%.*s]", 4, "a", 4, "b", 2, "cde", -1, "whole");
  SAME("%p [%20p]", static_cast<void*>(&here), static_cast<void*>(&here));
  SAME("%% 100%% %d%%", 5);
  SAME("braces { } {} {{0}} %d {:x}", 1);
  SAME("no directive");
  SAME("%s", "");
  CHECK(ours(capture, "%s|%.3s", static_cast<const char*>(nullptr), static_cast<const char*>(nullptr)) == "(null)|(null)");
  errno = ENOENT;
  CHECK(ours(capture, "open: %m") == "open: No such file or directory");
}

TEST_CASE("Printf: a precision bounds what is read of a string that has no end", "[diag][printf]") {
  Capture capture;
  std::vector<char> bare(3, 'z');  // nothing behind it: AddressSanitizer sees a byte too many
  CHECK(ours(capture, "[%.*s]", 3, bare.data()) == "[zzz]");
  CHECK(ours(capture, "[%.3s]", bare.data()) == "[zzz]");
  CHECK(ours(capture, "[%.*s]", 0, bare.data()) == "[]");
}

TEST_CASE("Printf: of a string without an end, not a byte behind its precision is read", "[diag][printf]") {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  auto* pages = static_cast<char*>(mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  REQUIRE(pages != MAP_FAILED);
  REQUIRE(mprotect(pages + page, page, PROT_NONE) == 0);  // the byte behind ends the process
  Capture capture;
  for (int length : {1, 7, 8, 31, 64, 1000}) {
    const char* text = pages + page - length;
    std::memset(pages + page - length, 'z', static_cast<std::size_t>(length));
    const std::string whole(static_cast<std::size_t>(length), 'z');
    CHECK(ours(capture, "[%.*s]", length, text) == "[" + whole + "]");
    CHECK(ours(capture, "[%*.*s]", length + 1, length, text) == "[ " + whole + "]");
    CHECK(ours(capture, "[%-*.*s]", length + 1, length, text) == "[" + whole + " ]");
    CHECK(ours(capture, fmt::format("[%.{}s]", length).c_str(), text) == "[" + whole + "]");
    // Formatted at the call: %ls cannot be copied.
    CHECK(ours(capture, "%ls [%.*s]", L"wide", length, text) == "wide [" + whole + "]");
    // It is not read at all where the format is refused.
    CHECK(ours(capture, "%.*s %k", length, text) == "[bad format: an unknown directive] %.*s %k");
  }
  munmap(pages, 2 * page);
}

TEST_CASE("Printf: %m is the error at the call, whatever comes after it", "[diag][printf]") {
  Capture capture;
  for (const char* format : {"open: %m", "%2$s%1$s: %m", "open%'d: %m"}) {
    const bool numbered = format[0] == '%', number = !numbered && format[4] == '%';
    capture.hold([] { note("held"); });
    errno = ENOENT;
    if (numbered) line(format, "n", "ope");
    else if (number) line(format, 1);
    else line(format);
    errno = EPERM;
    capture.release();
    CHECK(text_of_last(capture) == (number ? "open1: No such file or directory" : "open: No such file or directory"));
  }
}

TEST_CASE("Printf: %n is refused wherever it stands, and nothing is written through it", "[diag][printf]") {
  Capture capture;
  int written = -1;
  for (const char* format : {"%n", "%d %hhn", "%1$n", "%ls%n", "%20n", "%'d%lln"}) {
    std::string text = ours(capture, format, &written, &written);
    CHECK(text == std::string("[bad format: %n is refused] ") + format);
  }
  CHECK(written == -1);
}

TEST_CASE("Printf: a directive nobody knows, and one that breaks off, show the format and read no argument", "[diag][printf]") {
  Capture capture;
  CHECK(ours(capture, "%d %k", 1) == "[bad format: an unknown directive] %d %k");
  CHECK(ours(capture, "%d %", 1) == "[bad format: it ends inside a directive] %d %");
  CHECK(ours(capture, "%-5.") == "[bad format: it ends inside a directive] %-5.");
  CHECK(ours(capture, static_cast<const char*>(nullptr)) == "(null)");
}

TEST_CASE("Printf: what cannot be copied is formatted at the call", "[diag][printf]") {
  Capture capture;
  SAME("%2$s %1$s", "a", "b");
  SAME("%ls %d", L"wide", 3);
  SAME("%lc", static_cast<wint_t>(L'w'));
  SAME("%'d", 1234567);
  std::string many;
  for (int i = 0; i < 21; ++i) many += "%d ";
  SAME(many.c_str(), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21);
  SAME(many.substr(0, 60).c_str(), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20);
}

TEST_CASE("Printf: a format or a string that is too long says what is missing", "[diag][printf]") {
  Capture capture;
  std::string fits(kStringBytesMax, 'x'), longer(kStringBytesMax + 1, 'x'), huge(100'000, 'x');
  CHECK(ours(capture, fits.c_str()) == fits);
  CHECK(ours(capture, longer.c_str()) == fits + "...[+1 bytes]");
  CHECK(ours(capture, "%s", fits.c_str()) == fits);
  CHECK(ours(capture, "%s", longer.c_str()) == fits + "...[+1 bytes]");
  CHECK(ours(capture, "%s", huge.c_str()) == fits + fmt::format("...[+{} bytes]", huge.size() - kStringBytesMax));
  CHECK(ours(capture, huge.c_str()) == fits + fmt::format("...[+{} bytes]", huge.size() - kStringBytesMax));
  CHECK(ours(capture, "%*d", kPrintfWidthMax + 1, 1).size() == kPrintfWidthMax);
  CHECK(ours(capture, "%2000000000d", 1).size() == kPrintfWidthMax);
}

TEST_CASE("Printf: one line end at the end is dropped, and others are escaped", "[diag][printf]") {
  Capture capture;
  CHECK(ours(capture, "end %d\n", 1) == "end 1");
  CHECK(ours(capture, "%s", "a\n[fake] ERROR:") == "a\\n[fake] ERROR:");
  CHECK(ours(capture, "a\n\n") == "a\\n");
}

TEST_CASE("Printf: the format need not outlive the call", "[diag][printf]") {
  Capture capture;
  {
    std::string passing = "passing %d %s";
    line(passing.c_str(), 1, std::string("text").c_str());
    passing.assign(passing.size(), '!');
  }
  CHECK(text_of(capture) == "passing 1 text");
}

TEST_CASE("Printf: a thousand random formats come out as printf writes them", "[diag][printf]") {
  Capture capture;
  std::mt19937 random(7);
  auto pick = [&](auto... choices) {
    const char* all[] = {choices...};
    return std::string(all[random() % sizeof...(choices)]);
  };
  for (int i = 0; i < 1000; ++i) {
    auto head = [&] { return "%" + pick("", "-", "+", " ", "0", "#", "-0", "+0") + pick("", "3", "12") + pick("", "", ".0", ".4"); };
    std::string format = pick("", "a{", "}", "%%") + head() + "d|" + head() + pick("x", "o", "X", "u") + "|" + head() +
                         pick("f", "g", "e") + "|%" + pick("", "-") + pick("", "9") + pick("", ".2") + "s" + pick("", "z");
    int a = static_cast<int>(random());
    unsigned b = static_cast<unsigned>(random()) >> (random() % 32);
    double c = std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 64) - 48);
    INFO(format);
    SAME(format.c_str(), a, b, c, "string");
  }
}

}  // namespace telltale::diag
