// SPDX-License-Identifier: Apache-2.0
// Loss, in the whole path: the backend is held inside a sink, so a ring fills as far as the test wants.
#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <latch>
#include <regex>
#include <string>
#include <thread>
#include <vector>

#include <telltale/diag/dbg.h>
#include <telltale/diag/debug_control.h>
#include <telltale/diag/level.h>
#include <telltale/diag/output.h>

#include "debug_state.h"
#include "output_capture.h"

using namespace telltale::diag;

namespace {

constexpr DbgCtl flood_dbg{"flood"};
constexpr DbgCtl other_dbg{"flood_other"};

// Rings of 64 KiB for threads that start meanwhile.
struct SmallRings {
  SmallRings() { REQUIRE(set_ring_bytes(64 * 1024)); }
  ~SmallRings() { set_ring_bytes(kRingBytesDefault); }
};

struct Sent {
  std::uint64_t written, dropped;
  explicit Sent(const OutputStatus& s) : written(s.records_written), dropped(s.records_dropped) {}
};

std::uint64_t count(const std::vector<std::string>& lines, const std::string& part) {
  return static_cast<std::uint64_t>(
      std::count_if(lines.begin(), lines.end(), [&](const std::string& l) { return l.find(part) != std::string::npos; }));
}

// The sum of N in "N ... lines WHAT lost here".
std::uint64_t lost(const std::vector<std::string>& lines, const std::string& what) {
  std::uint64_t sum = 0;
  std::regex marker("\\] WARNING \\(diag\\) (?:<.*?> )?(\\d+) " + what + " lost here: the ring was full");
  for (const std::string& line : lines) {
    if (std::smatch m; std::regex_search(line, m, marker)) sum += std::stoull(m[1]);
  }
  return sum;
}

template <class Work>
void in_thread(const char* name, Work work) {
  std::thread([&] {
    set_thread_name(name);
    work();
  }).join();
}

}  // namespace

TEST_CASE("drop: what is written and what is dropped make what was sent, exactly, and the gap is told in place",
          "[diag][drop]") {
  CleanDebug clean;
  Capture capture;
  SmallRings small;
  REQUIRE(set_base({Mode::kOn, "flood", ""}));
  constexpr int kSent = 5000, kOther = 70;
  Sent before(output_status());
  ThreadOutput own;
  std::vector<DropState> drops;
  in_thread("flooder", [&] {
    capture.hold([] { status("the backend is held"); });
    for (int i = 0; i < kSent; ++i) Dbg(flood_dbg, "line {}", i);
    for (int i = 0; i < kOther; ++i) Dbg(other_dbg, "other {}", i);
    for (const ThreadOutput& t : output_status().threads) {
      if (t.thread == "flooder") own = t;
    }
    drops = output_status().drops;
    capture.release();
    flush_output(kLongEnough);
    // The loss is told without waiting for a further line; this one stands behind it.
    Dbg(flood_dbg, "the end");
  });
  std::vector<std::string> lines = capture.lines();
  Sent after(output_status());
  CHECK(own.written + own.dropped == kSent + kOther + 1);
  CHECK(own.dropped > 0);
  CHECK(after.written - before.written + after.dropped - before.dropped == kSent + kOther + 2);
  CHECK(count(lines, "(flood) ") == own.written - 1 + 1);
  CHECK(count(lines, "(flood_other) ") == 0);
  CHECK(lost(lines, "debug lines of tag flood") == own.dropped - kOther);
  CHECK(lost(lines, "debug lines of tag flood_other") == kOther);
  auto shown = [](const std::vector<DropState>& all, const char* thread, const char* tag) {
    std::uint64_t sum = 0;
    for (const DropState& one : all) {
      if (one.thread == thread && one.tag == tag && one.level == "debug" && one.reason == "the ring was full") sum += one.count;
    }
    return sum;
  };
  CHECK(shown(drops, "flooder", "flood") == own.dropped - kOther);
  CHECK(shown(drops, "flooder", "flood_other") == kOther);
  CHECK(shown(output_status().drops, "flooder", "flood_other") == 0);
  CHECK(shown(output_status().drops, "ended threads", "flood_other") >= kOther);
  // Order: the kept lines, the two markers, the end.
  REQUIRE(lines.size() == own.written + 3);
  CHECK(lines[own.written - 1].find("line " + std::to_string(own.written - 2)) != std::string::npos);
  CHECK(lines[own.written].find("[flooder] WARNING (diag)") != std::string::npos);
  CHECK(lines.back().find("the end") != std::string::npos);
}

TEST_CASE("drop: the word about a gap stands between the line before it and the line behind it", "[diag][drop]") {
  CleanDebug clean;
  Capture capture;
  SmallRings small;
  REQUIRE(set_base({Mode::kOn, "flood", ""}));
  in_thread("flooder", [&] {
    capture.hold([] { status("the backend is held"); });
    for (int i = 0; i < 3000; ++i) Dbg(flood_dbg, "line {}", i);
    warning("one in the reserve");  // comes behind the gap that is known by then
    for (int i = 0; i < 11; ++i) Dbg(flood_dbg, "late {}", i);
    capture.release();
  });
  std::vector<std::string> lines = capture.lines();
  REQUIRE(lines.size() > 4);
  auto at = std::find_if(lines.begin(), lines.end(), [](auto& l) { return l.find("lost here") != std::string::npos; });
  REQUIRE(at != lines.end());
  CHECK((at - 1)->find("(flood) ") != std::string::npos);
  CHECK((at + 1)->find("WARNING one in the reserve") != std::string::npos);
  REQUIRE(at + 2 != lines.end());
  CHECK((at + 2)->find("11 debug lines of tag flood lost here") != std::string::npos);
  CHECK(lost(lines, "debug lines of tag flood") + count(lines, " line ") == 3011);
}

TEST_CASE("drop: a flood of debug lines cannot hide warnings and errors", "[diag][drop]") {
  CleanDebug clean;
  Capture capture;
  SmallRings small;
  REQUIRE(set_base({Mode::kOn, "flood", ""}));
  in_thread("flooder", [&] {
    capture.hold([] { status("the backend is held"); });
    for (int i = 0; i < 3000; ++i) Dbg(flood_dbg, "line {}", i);
    for (int i = 0; i < 20; ++i) error("kept {}", i);
    note("a note has no reserve");
    capture.release();
  });
  std::vector<std::string> lines = capture.lines();
  CHECK(count(lines, "ERROR kept ") == 20);
  CHECK(count(lines, "a note has no reserve") == 0);
  CHECK(count(lines, "1 note line lost here: the ring was full") == 1);
}

TEST_CASE("drop: string-tag and level lines are counted under what they are", "[diag][drop]") {
  CleanDebug clean;
  Capture capture;
  SmallRings small;
  REQUIRE(set_base({Mode::kOn, "stringly", ""}));
  in_thread("flooder", [&] {
    capture.hold([] { status("the backend is held"); });
    for (int i = 0; i < 2000; ++i) {
      if (string_tag_wanted("stringly", false)) {
        write_located({Level::kDebug, "stringly", "plugin.cc", "handler", 5, "line {}"}, stored(i));
      }
      note("note {}", i);
    }
    capture.release();
  });
  std::vector<std::string> lines = capture.lines();
  CHECK(count(lines, "DEBUG (stringly) <plugin.cc:5 (handler)> line ") + lost(lines, "debug lines of tag stringly") == 2000);
  CHECK(count(lines, "NOTE note ") + lost(lines, "note lines") == 2000);
  CHECK(lost(lines, "note lines") > 0);
}

namespace {
struct Chatty {};
}  // namespace
template <>
struct fmt::formatter<Chatty> : fmt::formatter<std::string_view> {
  auto format(const Chatty&, format_context& c) const {
    note("from inside a formatter");
    return fmt::format_to(c.out(), "chatty");
  }
};

TEST_CASE("drop: a line written by a formatter inside another line is lost, counted and told", "[diag][drop]") {
  Capture capture;
  note("outer {} {}", Chatty{}, 5);
  note("next");
  std::vector<std::string> lines = capture.lines();
  CAPTURE(lines);
  REQUIRE(lines.size() == 3);
  // The backend may see the loss while the outer line is still open: then it is told before that one.
  CHECK(count(lines, "NOTE outer chatty 5") == 1);
  CHECK(count(lines, "1 note line lost here: written while the same thread was formatting another line") == 1);
  CHECK(lines[2].find("NOTE next") != std::string::npos);
}

namespace {
struct Kept : Sink {
  std::string text;
  bool write(std::string_view lines) noexcept override {
    text += lines;
    return true;
  }
};
struct Slow {
  Capture& former;
};
}  // namespace
template <>
struct fmt::formatter<Slow> : fmt::formatter<std::string_view> {
  auto format(const Slow& slow, format_context& c) const {
    note("from inside a formatter");
    slow.former.release();
    for (int passes = 0; passes < 3; ++passes) settle_output(kLongEnough);
    return fmt::format_to(c.out(), "slow");
  }
};

TEST_CASE("drop: a line that is lost behind a change of the output is told behind it", "[diag][drop]") {
  auto later = std::make_shared<Kept>();
  {
    Capture former;
    former.hold([] { status("the backend is held"); });
    set_extra_sink(later);
    note("outer {}", Slow{former});
    REQUIRE(flush_output(kLongEnough));
    CHECK(former.text().find("lost here") == std::string::npos);
  }
  CHECK(later->text.find("1 note line lost here: written while") != std::string::npos);
}

TEST_CASE("threads: ten thousand short threads use the same rings again, and nothing is lost", "[diag][drop]") {
#if defined(__SANITIZE_THREAD__)
  constexpr int kThreads = 1'000;  // each costs 8 ms there
#else
  constexpr int kThreads = 10'000;
#endif
  Capture capture;
  Sent before(output_status());
  std::size_t most = 0;
  for (int i = 0; i < kThreads; ++i) {
    std::thread([i] { note("short {}", i); }).join();
    if (i % 1000 == 0) most = std::max(most, output_status().threads.size());
    if (i % 500 == 499) REQUIRE(flush_output(kLongEnough));  // 500 of them fit, however late the backend comes
  }
  std::vector<std::string> lines = capture.lines();
  Sent after(output_status());
  CHECK(after.written - before.written == kThreads);
  CHECK(after.dropped == before.dropped);
  CHECK(most <= kRingsMax);
  REQUIRE(lines.size() == kThreads);
  for (int i = 0; i < kThreads; ++i) CHECK(lines[i].ends_with("NOTE short " + std::to_string(i)));
}

TEST_CASE("threads: up to the cap each has a ring, the one beyond has its lines counted as lost", "[diag][drop]") {
  Capture capture;
  std::size_t others = output_status().threads.size();
  REQUIRE(others < kRingsMax);
  std::size_t fit = kRingsMax - others;
  Sent before(output_status());
  std::latch all_wrote(static_cast<std::ptrdiff_t>(fit)), go(1);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < fit; ++i) {
    threads.emplace_back([&] {
      note("has a ring");
      all_wrote.count_down();
      go.wait();
    });
  }
  all_wrote.wait();
  Sent at_limit(output_status());
  CHECK(at_limit.written - before.written == fit);
  CHECK(at_limit.dropped == before.dropped);
  in_thread("one-too-many", [] {
    note("has none");
    note("has none");
  });
  CHECK(output_status().records_dropped - before.dropped == 2);
  go.count_down();
  for (std::thread& t : threads) t.join();
  in_thread("later", [] { note("has one again"); });
  std::vector<std::string> lines = capture.lines();
  CHECK(count(lines, "has a ring") == fit);
  CHECK(count(lines, "[-] WARNING (diag) 2 note lines lost here: no ring was free for the thread") == 1);
  CHECK(count(lines, "[later] NOTE has one again") == 1);
}

TEST_CASE("threads: a ring too full to change hands is used again once it is read", "[diag][drop]") {
  Capture capture;
  SmallRings small;
  REQUIRE(output_status().threads.size() < kRingsMax);
  capture.hold([] { status("the backend is held"); });
  // Threads that end with a full ring each, until no further thread gets one.
  std::uint64_t filled = 0;
  for (bool homeless = false; !homeless && filled < 2 * kRingsMax; ++filled) {
    in_thread("filler", [&] {
      std::size_t others = output_status().threads.size();
      error("first");
      homeless = output_status().threads.size() == others;
      while (char* at = homeless ? nullptr : begin_record(0, 0, Level::kError, 1000)) end_record(at + 1000, 0);
      // The smallest record there is, until not even that fits.
      while (char* at = homeless ? nullptr : begin_record(0, 0, Level::kError, 0)) end_record(at, 0);
    });
  }
  REQUIRE(filled <= kRingsMax);
  capture.release();
  flush_output(kLongEnough);
  in_thread("heir", [] { note("has a ring"); });
  CHECK(count(capture.lines(), "[heir] NOTE has a ring") == 1);
}

TEST_CASE("threads: a thread is called by its name from the moment it is given", "[diag][drop]") {
  Capture capture;
  std::thread([] {
    note("nameless");
    set_thread_name("a-name-of-more-than-15-bytes");
    note("named");
    set_thread_name("bad\nname");
    note("escaped");
  }).join();
  std::vector<std::string> lines = capture.lines();
  REQUIRE(lines.size() == 3);
  CHECK(std::regex_search(lines[0], std::regex("\\] \\[thread-[0-9]+\\] NOTE nameless")));
  CHECK(lines[1].find("] [a-name-of-more-] NOTE named") != std::string::npos);
  CHECK(lines[2].find("] [bad\\nname] NOTE escaped") != std::string::npos);
}

TEST_CASE("set_ring_bytes: takes powers of two from 64 KiB to 16 MiB, and nothing else", "[diag][drop]") {
  constexpr std::size_t kLeast = 64 * 1024, kMost = 16 * 1024 * 1024;
  for (std::size_t good : {kLeast, kLeast * 2, kMost}) CHECK(set_ring_bytes(good));
  for (std::size_t bad : {std::size_t{0}, kLeast / 2, kLeast + 8, kLeast * 3, kMost * 2}) CHECK_FALSE(set_ring_bytes(bad));
  CHECK(set_ring_bytes(kRingBytesDefault));
}
