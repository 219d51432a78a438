// SPDX-License-Identifier: Apache-2.0
// Sites that write by themselves: what they must not forget while nobody is asked. See lib/diag/src/plain_site.h.
#include <telltale/diag/dbg.h>
#include <telltale/diag/debug_control.h>
#include <telltale/diag/lease.h>
#include <telltale/diag/scope.h>

#include <atomic>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/unit/diag/debug_state.h"
#include "tests/unit/diag/output_capture.h"

namespace telltale::diag {
namespace {

constexpr DbgCtl plain_dbg{"test_plain"};

void line(int n) { Dbg(plain_dbg, "line {}", n); }

// Does the calling thread's site say by itself that it is on?
bool is_plain_here() {
  const std::uint32_t word = tl_records.front.positions->plain.load();
  return word != 0 && tl_records.asked_number - 1 < kSiteNumberMost;
}

// Only where there is a time-stamp counter that the kernel trusts (src/ticks.h).
bool may_be_plain() {
#if defined(__x86_64__)
  std::string clock;
  std::ifstream("/sys/devices/system/clocksource/clocksource0/current_clocksource") >> clock;
  return clock == "tsc";
#else
  return false;
#endif
}

std::uint64_t lines_of(std::uint64_t id) {
  for (const Lease& lease : leases()) {
    if (lease.id == id) return lease.lines;
  }
  return ~std::uint64_t{0};
}

}  // namespace

TEST_CASE("Plain sites: a lease that comes is charged from its first line on, and not once it is gone", "[diag][plain]") {
  CleanDebug clean;
  Capture capture;
  REQUIRE(set_base({Mode::kOn, "test_plain", ""}));
  for (int i = 0; i < 3; ++i) line(i);
  CHECK(is_plain_here() == may_be_plain());
  auto lease = open_lease({.tags = "test_plain", .max_lines = 2});
  REQUIRE(lease);
  for (int i = 3; i < 6; ++i) line(i);
  CHECK(lines_of(lease->lease.id) == 2);
  end_lease(lease->lease.id);
  for (int i = 6; i < 9; ++i) line(i);
  CHECK(capture.lines().size() == 9);  // the base is good for all
}

TEST_CASE("Plain sites: a lease without a limit counts the lines of all threads", "[diag][plain]") {
  CleanDebug clean;
  Capture capture;
  auto lease = open_lease({.tags = "test_plain"});
  REQUIRE(lease);
  line(0);
  std::thread([] { line(1); }).join();
  std::thread([] { line(2); }).join();
  CHECK(lines_of(lease->lease.id) == 3);
  end_lease(lease->lease.id);
  auto next = open_lease({.tags = "test_plain"});
  REQUIRE(next);
  CHECK(lines_of(next->lease.id) == 0);
  line(3);
  CHECK(lines_of(next->lease.id) == 1);
}

TEST_CASE("Plain sites: off is off on every thread once the call is back", "[diag][plain]") {
  CleanDebug clean;
  Capture capture;
  std::atomic<int> step{0};
  REQUIRE(set_base({Mode::kOn, "test_plain", ""}));
  std::thread other([&] {
    for (int i = 0; i < 3; ++i) line(i);
    step = 1;
    while (step != 2) std::this_thread::yield();
    line(100);
    step = 3;
    while (step != 4) std::this_thread::yield();
    line(200);
  });
  while (step != 1) std::this_thread::yield();
  REQUIRE(set_base({Mode::kOff, "", ""}));
  step = 2;
  while (step != 3) std::this_thread::yield();
  REQUIRE(set_base({Mode::kOn, "test_plain", ""}));
  step = 4;
  other.join();
  std::string text = capture.text();
  CHECK(text.find("line 2") != std::string::npos);
  CHECK(text.find("line 100") == std::string::npos);
  CHECK(text.find("line 200") != std::string::npos);
}

TEST_CASE("Plain sites: a client's filter beside the base asks again, and the line carries its context", "[diag][plain]") {
  CleanDebug clean;
  Capture capture;
  REQUIRE(set_base({Mode::kOn, "test_plain", ""}));
  line(0);
  line(1);
  Context context{.connection = 7, .transaction = 8};
  {
    Scope scope(&context);
    line(2);
  }
  REQUIRE(set_base({Mode::kOnForClients, "test_plain", "192.0.2.1"}));
  {
    Scope scope(&context);
    line(3);
  }
  std::vector<std::string> lines = capture.lines();
  REQUIRE(lines.size() == 3);
  CHECK(lines[1].find("{c7") == std::string::npos);
  CHECK(lines[2].find("{c7 t8}") != std::string::npos);
}

namespace {
struct Writes {};
}  // namespace
}  // namespace telltale::diag

template <>
struct fmt::formatter<telltale::diag::Writes> {
  constexpr auto parse(format_parse_context& c) { return c.begin(); }
  auto format(const telltale::diag::Writes&, format_context& c) const {
    telltale::diag::line(50);
    return fmt::format_to(c.out(), "outer");
  }
};

namespace telltale::diag {

TEST_CASE("Plain sites: a record inside another is refused and counted, and the outer one is whole", "[diag][plain]") {
  CleanDebug clean;
  Capture capture;
  REQUIRE(set_base({Mode::kOn, "test_plain", ""}));
  line(0);
  line(1);
  REQUIRE(is_plain_here() == may_be_plain());
  capture.text();
  Dbg(plain_dbg, "{} text", Writes{});
  Dbg(plain_dbg, "{} text", Writes{});
  std::string text = capture.text();
  CHECK(text.find("outer text") != std::string::npos);
  CHECK(text.find("line 50") == std::string::npos);
  CHECK(text.find("lost") != std::string::npos);
}

TEST_CASE("Plain sites: strings of every length up to 80 bytes arrive as they are", "[diag][plain]") {
  CleanDebug clean;
  Capture capture;
  REQUIRE(set_base({Mode::kOn, "test_plain", ""}));
  std::string all;
  for (char c = '!'; c < '!' + 80; ++c) all += c == '\\' || c == '{' ? '_' : c;
  for (std::size_t n = 0; n <= all.size(); ++n) Dbg(plain_dbg, "<{}>", std::string_view(all).substr(0, n));
  std::vector<std::string> lines = capture.lines();
  REQUIRE(lines.size() == all.size() + 1);
  for (std::size_t n = 0; n < lines.size(); ++n) {
    INFO(lines[n]);
    CHECK(lines[n].ends_with("<" + all.substr(0, n) + ">"));
  }
}

}  // namespace telltale::diag
