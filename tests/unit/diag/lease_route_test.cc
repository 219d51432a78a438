// SPDX-License-Identifier: Apache-2.0
// Where the lines of leases with outputs of their own go, beside what others ask for; and sinks that are swapped while
// lines come.
#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <telltale/diag/dbg.h>
#include <telltale/diag/debug_control.h>
#include <telltale/diag/lease.h>
#include <telltale/diag/level.h>
#include <telltale/diag/output.h>

#include "debug_state.h"
#include "output_capture.h"
#include "temporary_folder.h"

using namespace telltale::diag;

namespace {

constexpr DbgCtl a_dbg{"route_a"}, b_dbg{"route_b"};

class Messages : public EntrySink {
 public:
  bool write(const Entry& entry) noexcept override {
    std::lock_guard lock(mutex_);
    all_.emplace_back(entry.message);
    return true;
  }
  std::vector<std::string> take() {
    flush_output(kLongEnough);
    std::lock_guard lock(mutex_);
    return std::exchange(all_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> all_;
};

// Debug lines go to diags.log; extra sink and JSON are there for leases.
class Outputs {
 public:
  Outputs() : extra(std::make_shared<Messages>()) {
    set_throttle({.interval = std::chrono::milliseconds{0}});
    config.routes.fill(kToLogFile);
    config.show_location = ShowLocation::kNever;
    config.log_file = folder / "diags.log";
    config.json_file = folder / "diags.json";
    config.also = kToJson | kToExtra;
    set_extra_sink(extra);
    REQUIRE(configure_output(config));
  }
  ~Outputs() {
    end_leases();
    (void)set_base({});
    (void)configure_output({});
    set_extra_sink(nullptr);
    settle_output(kLongEnough);
  }
  // The debug lines that have come to the file, their text only.
  std::vector<std::string> in_file(const std::string& name = "diags.log", const std::string& tag = "route_") {
    flush_output(kLongEnough);
    std::vector<std::string> texts;
    std::istringstream in(folder.read(name));
    for (std::string line; std::getline(in, line);) {
      if (line.find(tag) == std::string::npos || line.find("DEBUG") == std::string::npos) continue;
      const bool json = line[0] == '{';
      const std::size_t from = json ? line.find("\"text\":\"") + 8 : line.find(") ") + 2;
      texts.push_back(line.substr(from, json ? line.rfind('"') - from : std::string::npos));
    }
    return texts;
  }

  TemporaryFolder folder;
  std::shared_ptr<Messages> extra;
  OutputConfig config;
};

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("Lease to: what only that lease asks for goes there alone", "[diag][lease][route]") {
  const CleanDebug debug;
  Outputs to;
  REQUIRE(open_lease({.tags = "route_a", .to = kToExtra}));
  Dbg(a_dbg, "one");
  Dbg(b_dbg, "off");
  CHECK(to.extra->take() == Texts{"one"});
  CHECK(to.in_file().empty());
}

TEST_CASE("Lease to: what others ask for too goes where each says, once", "[diag][lease][route]") {
  const CleanDebug debug;
  Outputs to;
  REQUIRE(set_base({.mode = Mode::kOn, .tags = "route_b"}));
  REQUIRE(open_lease({.tags = "route_", .append = true, .to = kToExtra}));
  REQUIRE(open_lease({.tags = "route_a", .append = true, .to = kToExtra | kToJson}));
  Dbg(a_dbg, "a");
  Dbg(b_dbg, "b");
  CHECK(to.extra->take() == Texts{"a", "b"});
  CHECK(to.in_file() == Texts{"b"});
  CHECK(to.in_file("diags.json") == Texts{"a"});
  // A lease without outputs of its own is as the base.
  REQUIRE(open_lease({.tags = "route_a", .append = true}));
  Dbg(a_dbg, "a2");
  CHECK(to.extra->take() == Texts{"a2"});
  CHECK(to.in_file() == Texts{"b", "a2"});
}

TEST_CASE("Lease to: a lease's lines are spent for its own outputs only", "[diag][lease][route]") {
  const CleanDebug debug;
  Outputs to;
  REQUIRE(set_base({.mode = Mode::kOn, .tags = "route_a"}));
  REQUIRE(open_lease({.tags = "route_a", .append = true, .max_lines = 2, .to = kToExtra}));
  for (int i = 0; i < 4; ++i) Dbg(a_dbg, "{}", i);
  CHECK(to.extra->take() == Texts{"0", "1"});
  CHECK(to.in_file() == Texts{"0", "1", "2", "3"});
}

TEST_CASE("Lease to: string tags, and what ends the lease", "[diag][lease][route]") {
  const CleanDebug debug;
  Outputs to;
  auto lease = open_lease({.tags = "route_", .to = kToExtra});
  REQUIRE(lease);
  CHECK(lease->lease.to == kToExtra);
  CHECK(leases().at(0).to == kToExtra);
  const char* tag = "route_string";
  auto say = [tag](const char* text) {
    if (string_tag_wanted(tag, false)) write_located({Level::kDebug, tag, "f.cc", "f", 1, "{}"}, std::string_view(text));
  };
  say("by tag");
  CHECK(to.extra->take() == Texts{"by tag"});
  note("not debug");
  CHECK(to.extra->take().empty());
  REQUIRE(end_lease(lease->lease.id));
  say("over");
  Dbg(a_dbg, "over");
  CHECK(to.extra->take().empty());
  CHECK(to.in_file().empty());
}

TEST_CASE("Lease to: an output that is not there loses its lines, counted", "[diag][lease][route]") {
  const CleanDebug debug;
  Outputs to;
  for (RouteBits none : {kToSyslog, kToJournald, kToBinary}) {
    REQUIRE(open_lease({.tags = "route_a", .to = none}));
    flush_output(kLongEnough);
    const std::uint64_t before = output_status().lines_lost;
    Dbg(a_dbg, "nowhere");
    flush_output(kLongEnough);
    CHECK(output_status().lines_lost == before + 1);
  }
  CHECK(to.in_file().empty());
}

// Three threads write numbered lines while everything is changed: the files' names, their number, the extra sink, where
// levels lead. Each line is once, in one of the places that were in force, and in order within a place.
TEST_CASE("Output: a hundred swaps of sinks under a flood lose and double nothing", "[diag][output][route]") {
  const CleanDebug debug;
  set_throttle({.interval = std::chrono::milliseconds{0}});
  const TemporaryFolder folder;
  constexpr int kThreads = 3, kSwaps = 100;
  std::vector<std::shared_ptr<Messages>> extras;
  auto configure = [&](int i) {
    OutputConfig config;
    config.show_location = ShowLocation::kNever;
    config.log_file = folder / ("log" + std::to_string(i % 3));
    config.json_file = folder / ("json" + std::to_string(i % 2));
    config.routes.fill(i % 3 == 0 ? kToLogFile : i % 3 == 1 ? kToJson : kToExtra);
    REQUIRE(configure_output(config));
  };
  extras.push_back(std::make_shared<Messages>());
  set_extra_sink(extras.back());
  configure(0);
  settle_output(kLongEnough);
  const std::uint64_t dropped_before = output_status().records_dropped, lost_before = output_status().lines_lost;
  std::atomic<bool> stop{false};
  std::atomic<int> numbers[kThreads] = {};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int n = 0; !stop; ++n) {
        status("flood {} {}", t, n);
        numbers[t] = n + 1;
        if (n % 256 == 255) flush_output(kLongEnough);  // the rings never fill: what is missing then was lost by a swap
      }
    });
  }
  for (int i = 1; i <= kSwaps; ++i) {
    if (i % 5 == 0) {
      extras.push_back(std::make_shared<Messages>());
      set_extra_sink(extras.back());
    }
    configure(i);
    settle_output(kLongEnough);
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  flush_output(kLongEnough);
  (void)configure_output({});
  set_extra_sink(nullptr);
  settle_output(kLongEnough);
  REQUIRE(output_status().records_dropped == dropped_before);
  REQUIRE(output_status().lines_lost == lost_before);

  std::map<std::string, int> seen;
  std::size_t places_with_lines = 0;
  auto take = [&](const std::vector<std::string>& lines) {
    int last[kThreads] = {-1, -1, -1};
    bool in_order = true;
    for (const std::string& line : lines) {
      const std::size_t at = line.find("flood ");
      if (at == std::string::npos) continue;
      int t = 0, n = 0;
      REQUIRE(std::sscanf(line.c_str() + at, "flood %d %d", &t, &n) == 2);
      in_order = in_order && n > last[t];
      last[t] = n;
      ++seen[std::to_string(t) + " " + std::to_string(n)];
    }
    CHECK(in_order);
    if (!lines.empty()) ++places_with_lines;
  };
  for (const std::string& name : folder.names()) {
    std::vector<std::string> lines;
    std::istringstream in(folder.read(name));
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    take(lines);
  }
  for (const auto& extra : extras) take(extra->take());
  CHECK(places_with_lines >= 5);
  std::size_t sent = 0;
  for (int t = 0; t < kThreads; ++t) sent += static_cast<std::size_t>(numbers[t].load());
  CHECK(seen.size() == sent);
  CHECK(std::all_of(seen.begin(), seen.end(), [](const auto& one) { return one.second == 1; }));
}
