// SPDX-License-Identifier: Apache-2.0
// Notes, warnings and errors that repeat themselves: the table by itself, with times of the test's own, and the
// whole way from the call to the line.
#include <telltale/diag/level.h>
#include <telltale/diag/lease.h>
#include <telltale/diag/printf.h>
#include <telltale/diag/throttle.h>

#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <latch>
#include <map>
#include <random>
#include <regex>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "lib/diag/src/throttle_table.h"
#include "tests/unit/diag/output_capture.h"

namespace telltale::diag {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kSecond = 1'000'000'000;

// A table, and what it has told.
struct Table {
  std::unique_ptr<ThrottleTable> table = std::make_unique<ThrottleTable>();
  std::uint64_t told = 0, lines_told = 0;
  bool of_place = false;

  bool admit(const std::string& text, std::size_t origin_bytes, std::int64_t now_ns, std::uint32_t burst = 1000) {
    return table->admit({Level::kError, 6, origin_bytes, text}, now_ns, burst);
  }
  void tell(std::int64_t now_ns, bool all = false) {
    table->tell(now_ns, 10 * kSecond, all, [this](const HeldBack& held) {
      ++lines_told;
      told += held.lines;
      of_place = held.of_place;
    });
  }
};

// The sum of what lines say was not written, and how many say so.
struct Told {
  std::uint64_t lines = 0, held_back = 0;
  explicit Told(const std::vector<std::string>& all) {
    const std::regex words("(\\d+) more (of these|lines|lines that differ from each other) within [0-9.]+ s are not written");
    for (const std::string& line : all) {
      if (std::smatch m; std::regex_search(line, m, words)) {
        ++lines;
        held_back += std::stoull(m[1]);
      }
    }
  }
};

// The other tests of this program write the same lines again and again.
[[maybe_unused]] const bool off_elsewhere = [] {
  set_throttle({.interval = 0ms});
  return true;
}();

// Throttled as set, for one test.
struct Throttling {
  explicit Throttling(ThrottleConfig config) { set_throttle(config); }
  ~Throttling() { set_throttle({.interval = 0ms}); }
};

}  // namespace

TEST_CASE("ThrottleTable: a message is written once, and once more after an interval without it", "[diag][throttle]") {
  Table t;
  CHECK(t.admit("place a", 5, 0));
  CHECK_FALSE(t.admit("place a", 5, 1));
  CHECK(t.admit("place b", 5, 2));
  t.tell(10 * kSecond - 1);
  CHECK(t.lines_told == 0);
  t.tell(10 * kSecond);
  CHECK((t.lines_told == 1 && t.told == 1 && !t.of_place));
  CHECK_FALSE(t.admit("place a", 5, 11 * kSecond));  // it goes on: told of again, not written
  t.tell(20 * kSecond);
  CHECK((t.lines_told == 2 && t.told == 2));
  t.tell(30 * kSecond);
  CHECK(t.lines_told == 2);
  CHECK(t.admit("place a", 5, 30 * kSecond));
  CHECK(t.table->held_back() == 2);
}

TEST_CASE("ThrottleTable: of different messages of one place only so many are written", "[diag][throttle]") {
  Table t;
  for (int i = 0; i < 7; ++i) CHECK(t.admit(fmt::format("place {}", i), 5, i, 5) == (i < 5));
  CHECK(t.admit("other 6", 5, 8, 5));
  t.tell(10 * kSecond);
  CHECK((t.lines_told == 1 && t.told == 2 && t.of_place));
  CHECK(t.admit("place 8", 5, 10 * kSecond, 5));
}

TEST_CASE("ThrottleTable: level and every byte of the arguments tell messages apart", "[diag][throttle]") {
  Table t;
  std::string text(200, 'x');
  CHECK(t.admit(text, 10, 0));
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string other = text;
    other[i] = 'y';
    CHECK(t.admit(other, 10, 0));
  }
  CHECK(t.table->admit({Level::kWarning, 6, 10, text}, 0, 1000));
  CHECK_FALSE(t.table->admit({Level::kWarning, 6, 10, text}, 0, 1000));
}

TEST_CASE("ThrottleTable: written and told of are all there were, on random input beyond what it can tell apart",
          "[diag][throttle]") {
  std::mt19937 random(7);
  Table t;
  std::uint64_t written = 0, sent = 0;
  for (std::int64_t now = 0; now < 200 * kSecond; now += kSecond / 20) {
    for (int i = 0; i < 20; ++i) {
      // Few messages often, many seldom; more places than there are slots.
      unsigned place = random() % 3 == 0 ? random() % 400 : random() % 4, message = random() % 5 == 0 ? random() : random() % 3;
      ++sent;
      written += t.admit(fmt::format("{:04}{}", place, message), 4, now, 20);
    }
    t.tell(now);
    CHECK(written + t.table->held_back() == sent);
  }
  t.tell(200 * kSecond, true);
  CHECK(written + t.told == sent);
  CHECK(t.table->held_back() == t.told);
}

TEST_CASE("ThrottleTable: threads that write while it tells lose no count", "[diag][throttle]") {
  Table t;
  constexpr int kThreads = 4, kEach = 20'000;
  std::atomic<std::int64_t> now{0};
  std::atomic<std::uint64_t> written{0};
  std::atomic<int> running{kThreads};
  std::vector<std::thread> threads;
  for (int n = 0; n < kThreads; ++n) {
    threads.emplace_back([&, n] {
      std::mt19937 random(static_cast<unsigned>(n));
      for (int i = 0; i < kEach; ++i) {
        written += t.admit(fmt::format("{}{}", random() % 3, random() % 40), 1, now.fetch_add(kSecond / 1000), 8);
      }
      --running;
    });
  }
  while (running != 0) t.tell(now);
  for (std::thread& thread : threads) thread.join();
  t.tell(now, true);
  CHECK(written + t.told == std::uint64_t{kThreads} * kEach);
}

TEST_CASE("Throttle: a million equal errors from 16 threads are two lines, and the count is exact", "[diag][throttle]") {
  Capture capture;
  Throttling on({.interval = 1h});
  constexpr int kThreads = 16, kEach = 62'500;
  const std::uint64_t before = lines_held_back(), dropped = output_status().records_dropped;
  std::latch all(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      all.arrive_and_wait();
      for (int i = 0; i < kEach; ++i) error("the origin {} refused: {}", "10.0.0.7:80", 111);
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(lines_held_back() - before == kThreads * kEach - 1);
  tell_held_back();
  std::vector<std::string> lines = capture.lines();
  REQUIRE(lines.size() == 2);
  CHECK_THAT(lines[0], Catch::EndsWith("the origin 10.0.0.7:80 refused: 111"));
  CHECK_THAT(lines[1], Catch::Contains("] ERROR ") &&
                           Catch::Contains("the origin 10.0.0.7:80 refused: 111 [999999 more of these within "));
  CHECK(output_status().records_dropped == dropped);
}

TEST_CASE("Throttle: the count comes by itself, though nothing else is ever written", "[diag][throttle]") {
  Capture capture;
  Throttling on({.interval = 50ms});
  for (int i = 0; i < 10; ++i) warning("again");
  // Until the backend's clock has come by; a loaded machine may be late, and may have split the ten.
  std::vector<std::string> lines;
  const auto late = std::chrono::steady_clock::now() + kLongEnough;
  auto complete = [&] {
    const Told told(lines);
    return lines.size() - told.lines + told.held_back == 10;
  };
  while (!complete() && std::chrono::steady_clock::now() < late) {
    for (std::string& line : capture.lines()) lines.push_back(std::move(line));
  }
  CHECK(complete());
  CHECK(Told(lines).lines >= 1);
}

TEST_CASE("Throttle: a place whose messages all differ is held to its burst", "[diag][throttle]") {
  Capture capture;
  Throttling on({.interval = 1h, .burst = 5});
  for (int i = 0; i < 100; ++i) note("client {} went away {{}}", i);
  note("client {} went away", 0);  // another place
  tell_held_back();
  std::vector<std::string> lines = capture.lines();
  REQUIRE(lines.size() == 7);
  CHECK_THAT(lines[4], Catch::EndsWith("client 4 went away {}"));
  CHECK_THAT(lines[5], Catch::EndsWith("client 0 went away"));
  CHECK_THAT(lines[6], Catch::Contains("] NOTE ") && Catch::Contains("95 more lines that differ from each other within ") &&
                           Catch::EndsWith("are not written: client {} went away {{}}"));
}

TEST_CASE("Throttle: what does not fit into a sample is counted all the same", "[diag][throttle]") {
  Capture capture;
  Throttling on({.interval = 1h});
  const std::string long_text(700, 'x');
  for (int i = 0; i < 3; ++i) error("of {} bytes: {}", long_text.size(), long_text);
  tell_held_back();
  std::vector<std::string> lines = capture.lines();
  REQUIRE(lines.size() == 2);
  CHECK_THAT(lines[1], Catch::Contains("2 more lines within ") && Catch::EndsWith("are not written: of {} bytes: {}"));
}

TEST_CASE("Throttle: fields and cut strings are told as they were written", "[diag][throttle]") {
  Capture capture;
  Throttling on({.interval = 1h});
  for (int i = 0; i < 3; ++i) error("refused {}", "x\ny", field("status", 503));
  tell_held_back();
  std::vector<std::string> lines = capture.lines();
  REQUIRE(lines.size() == 2);
  CHECK_THAT(lines[1], Catch::Contains("refused x\\ny [2 more of these within ") && Catch::EndsWith("are not written] status=503"));
}

TEST_CASE("Throttle: status lines, and what an Unthrottled thread writes, are all there", "[diag][throttle]") {
  Capture capture;
  Throttling on({.interval = 1h, .burst = 1});
  for (int i = 0; i < 4; ++i) status("the same");
  {
    const Unthrottled outer;
    { const Unthrottled inner; }
    for (int i = 0; i < 4; ++i) error("the same");
  }
  for (int i = 0; i < 4; ++i) {
    REQUIRE(open_lease({.tags = "no_such_tag", .duration = 1ms}, {}));
    CHECK(expire_leases(std::chrono::steady_clock::time_point{1s}).size() == 1);
  }
  std::vector<std::string> lines = capture.lines();
  CHECK(lines.size() == 12);
  CHECK(Told(lines).lines == 0);
}

TEST_CASE("Throttle: a flood leaves the ring to others", "[diag][throttle]") {
  Capture capture;
  Throttling on({.interval = 1h});
  const std::uint64_t dropped = output_status().records_dropped;
  capture.hold([] { note("held"); });
  for (int i = 0; i < 100'000; ++i) error("the same");
  for (int i = 0; i < 10; ++i) error("number {}", i);
  capture.release();
  CHECK(capture.lines().size() == 12);
  CHECK(output_status().records_dropped == dropped);
}

}  // namespace telltale::diag
