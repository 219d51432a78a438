// SPDX-License-Identifier: Apache-2.0
// What users of other loggers ran into, in the whole path; docs/notes/record_path_cases.md has the list.
#include <catch2/catch.hpp>

#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <telltale/diag/dbg.h>
#include <telltale/diag/debug_control.h>
#include <telltale/diag/level.h>
#include <telltale/diag/output.h>

#include "allocation_counter.h"
#include "debug_state.h"
#include "output_capture.h"

using namespace telltale::diag;

namespace {

constexpr DbgCtl case_dbg{"output_case"};

// Says when it ends, and whether it was asked anything afterwards.
struct Owned : Sink {
  struct Seen {
    std::string text;
    bool ended = false;
  };
  explicit Owned(Seen& s) : seen(s) {}
  ~Owned() override { seen.ended = true; }
  bool write(std::string_view lines) noexcept override {
    seen.text += lines;
    return true;
  }
  Seen& seen;
};

}  // namespace

TEST_CASE("output: a sink that is replaced while threads write ends after its last line, and each line is with one sink (A8)",
          "[diag][output]") {
  constexpr int kSinks = 10, kThreads = 2, kLines = 300;
  Capture capture;
  std::vector<Owned::Seen> seen(kSinks);
  const OutputStatus before = output_status();
  std::vector<std::thread> threads;
  for (int s = 0; s < kSinks; ++s) {
    set_extra_sink(std::make_shared<Owned>(seen[static_cast<std::size_t>(s)]));
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([s, t] {
        for (int i = 0; i < kLines; ++i) {
          note("line {}/{}/{}.", s, t, i);
          if (i % 50 == 49) flush_output(kLongEnough);  // so that no ring is full
        }
      });
    }
  }
  for (std::thread& t : threads) t.join();
  set_extra_sink(nullptr);
  REQUIRE(flush_output(kLongEnough));
  REQUIRE(settle_output(kLongEnough));
  REQUIRE(output_status().records_dropped == before.records_dropped);
  std::string all;
  for (const Owned::Seen& one : seen) {
    CHECK(one.ended);
    all += one.text;
  }
  for (int s = 0; s < kSinks; ++s) {
    for (int t = 0; t < kThreads; ++t) {
      // Per thread in order, whichever sinks the lines are with.
      std::size_t at = 0;
      for (int i = 0; i < kLines; ++i) {
        const std::string line = "line " + std::to_string(s) + "/" + std::to_string(t) + "/" + std::to_string(i) + ".";
        at = all.find(line, at);
        if (at == std::string::npos) FAIL(line << " is missing, or out of order");
        if (all.find(line, at + 1) != std::string::npos) FAIL(line << " is there twice");
      }
    }
  }
}

TEST_CASE("output: a flood against a backend that stands still allocates nothing (case 14)", "[diag][output]") {
  CleanDebug clean;
  Capture capture;
  REQUIRE(set_base({Mode::kOn, "output_case", ""}));
  std::uint64_t allocations = 1;
  OutputStatus before, after;
  std::thread([&] {
    capture.hold([] { status("the backend is held"); });
    before = output_status();
    const std::uint64_t at_first = allocations_of_this_thread();
    const std::string text(20, 'x');
    for (int i = 0; i < 50'000; ++i) {
      Dbg(case_dbg, "line {} {} {}", i, text, 0.5);
      if (i % 10 == 0) warning("a warning {}", i);
    }
    allocations = allocations_of_this_thread() - at_first - 1;  // `text`
    after = output_status();
    capture.release();
  }).join();
  CHECK(allocations == 0);
  CHECK(after.records_dropped > before.records_dropped + 40'000);
  CHECK(after.records_written + after.records_dropped - before.records_written - before.records_dropped == 55'000);
}

TEST_CASE("output: a string larger than any ring is cut, and says how much is missing (case 23)", "[diag][output]") {
  CleanDebug clean;
  Capture capture;
  REQUIRE(set_base({Mode::kOn, "output_case", ""}));
  const std::string text(3 << 20, 'x');
  Dbg(case_dbg, "{} and {}", text, 7);
  const std::vector<std::string> lines = capture.lines();
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].ends_with(std::string(kStringBytesMax, 'x') + "...[+" + std::to_string(text.size() - kStringBytesMax) + " bytes] and 7"));
}

TEST_CASE("output: the time of a line is UTC wherever the process thinks it is, in the hour that comes twice too (B84)",
          "[diag][output]") {
  Capture capture;
  const char* former = std::getenv("TZ");
  const std::string saved = former == nullptr ? "" : former;
  for (const char* zone : {"UTC", "Asia/Kolkata", "XXX+4YYY,0,J365/25"}) {
    setenv("TZ", zone, 1);
    tzset();
    note("there");
    const std::time_t now = std::time(nullptr);
    const std::vector<std::string> lines = capture.lines();
    REQUIRE(lines.size() == 1);
    INFO(lines[0]);
    std::tm utc{};
    const char* end = strptime(lines[0].c_str(), "[%Y-%m-%dT%H:%M:%S.", &utc);
    REQUIRE(end != nullptr);
    CHECK(std::string_view(end).substr(6, 2) == "Z]");
    CHECK(std::abs(timegm(&utc) - now) < 900);  // the nearest zone is half an hour away
  }
  if (former == nullptr) unsetenv("TZ");
  else setenv("TZ", saved.c_str(), 1);
  tzset();
}
