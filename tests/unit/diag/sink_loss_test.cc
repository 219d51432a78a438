// SPDX-License-Identifier: Apache-2.0
// Lines that a sink did not take are counted as those that did not fit are: by thread, level and tag.
#include <catch2/catch.hpp>

#include <cstdarg>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <telltale/diag/dbg.h>
#include <telltale/diag/debug_control.h>
#include <telltale/diag/level.h>
#include <telltale/diag/output.h>
#include <telltale/diag/printf.h>

#include "debug_state.h"
#include "lib/diag/src/sink_losses.h"
#include "output_capture.h"
#include "temporary_folder.h"

using namespace telltale::diag;

namespace {

constexpr DbgCtl first_dbg{"loss_first"};
constexpr DbgCtl second_dbg{"loss_second"};

using Key = std::tuple<std::string, std::string, std::string>;  // thread, level, tag
using Losses = std::map<Key, std::uint64_t>;

// Those of one sink, as they are now.
Losses losses_of(const std::string& sink) {
  REQUIRE(settle_output(kLongEnough));
  Losses all;
  for (const DropState& one : output_status().sink_losses) {
    if (one.reason == sink) all[{one.thread, one.level, one.tag}] += one.count;
  }
  return all;
}
Losses since(const std::string& sink, const Losses& before) {
  Losses fresh;
  for (const auto& [key, count] : losses_of(sink)) {
    auto at = before.find(key);
    if (std::uint64_t n = count - (at == before.end() ? 0 : at->second)) fresh[key] = n;
  }
  return fresh;
}
std::uint64_t lost_by(const std::string& sink) {
  for (const SinkState& one : output_status().sinks) {
    if (one.name == sink) return one.lost;
  }
  return 0;
}

[[gnu::format(printf, 2, 3)]] void print(const char* tag, const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  write_printf({Level::kDebug, tag, "plugin.cc", "handler", 5, format}, arguments);
  va_end(arguments);
}

struct Refusing : Sink {
  bool write(std::string_view) noexcept override { return false; }
};

}  // namespace

TEST_CASE("Sink losses: a device that is full and a sink that refuses cost lines, each counted by thread, level and tag",
          "[diag][loss]") {
  CleanDebug clean;
  Capture capture;
  REQUIRE(set_base({Mode::kOn, "loss_", ""}));
  (void)string_tag_wanted("loss_string", false);  // the registry knows it, as it does of one that was asked for
  const Losses before_file = losses_of("/dev/full"), before_extra = losses_of("extra sink");
  OutputConfig config;
  config.routes.fill(kToLogFile | kToExtra);
  config.log_file = "/dev/full";
  set_extra_sink(std::make_shared<Refusing>());
  REQUIRE(configure_output(config));
  std::thread([] {
    set_thread_name("loser");
    for (int i = 0; i < 3; ++i) {
      Dbg(first_dbg, "line {}", i);
      Dbg(second_dbg, "line {}", i);
      print("loss_string", "line %d", i);
      note("(loss_first) is the text, not the tag");
      if (i == 0) warning("line {}", i);
    }
  }).join();
  REQUIRE(flush_output(kLongEnough));
  const Losses expected{{{"loser", "debug", "loss_first"}, 3},  {{"loser", "debug", "loss_second"}, 3},
                        {{"loser", "debug", "loss_string"}, 3}, {{"loser", "note", ""}, 3},
                        {{"loser", "warning", ""}, 1}};
  CHECK(since("/dev/full", before_file) == expected);
  CHECK(since("extra sink", before_extra) == expected);
  std::uint64_t sum = 0;
  for (const auto& [key, count] : losses_of("/dev/full")) sum += count;
  CHECK(sum == lost_by("/dev/full"));
}

TEST_CASE("Sink losses: 1,024 kinds are told apart, those beyond count to others", "[diag][loss]") {
  SinkLosses losses;
  CHECK_FALSE(losses.changed());
  for (std::size_t i = 0; i < SinkLosses::kKeys + 10; ++i) losses.add("a sink", std::to_string(i), {.level = Level::kNote});
  losses.add("a sink", "0", {.level = Level::kNote});
  CHECK(losses.changed());
  const std::vector<DropState> all = losses.take_changed();
  CHECK_FALSE(losses.changed());
  REQUIRE(all.size() == SinkLosses::kKeys + 1);
  for (const DropState& one : all) {
    const std::uint64_t count = one.thread == "0" ? 2 : one.thread == "others" ? 10 : 1;
    CHECK(one.count == count);
    CHECK(one.level == (one.thread == "others" ? "any" : "note"));
  }
}

namespace {
// Refuses as often as it is told to, and says when it was asked for the last time.
struct RefusingFor : Sink {
  explicit RefusingFor(int times) : left(times) {}
  bool write(std::string_view lines) noexcept override {
    if (left > 0) return --left, false;
    taken += lines;
    return true;
  }
  int left;
  std::string taken;
};
}  // namespace

TEST_CASE("Sink losses: of a sink that takes nothing three times in a row the others are told, once, and when it does again (A9)",
          "[diag][loss]") {
  CleanDebug clean;
  TemporaryFolder folder;
  Capture capture;
  OutputConfig config;
  config.routes.fill(kToLogFile | kToExtra);
  config.log_file = folder / "log";
  REQUIRE(configure_output(config));
  auto sink = std::make_shared<RefusingFor>(5);  // each line is a batch: the loss before it is tried first
  set_extra_sink(sink);
  const std::uint64_t errors = output_status().sink_errors;
  for (int i = 0; i < 12; ++i) {
    note("line {}", i);
    REQUIRE(flush_output(kLongEnough));
  }
  const std::string text = folder.read("log");
  auto times = [&text](const std::string& what) {
    std::size_t n = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
    return n;
  };
  CHECK(times("NOTE line ") == 12);
  CHECK(times("WARNING (diag) extra sink takes no lines: refused by the sink; they are counted as lost until it does\n") == 1);
  CHECK(times("NOTE (diag) extra sink takes lines again; ") == 1);
  CHECK(times("NOTE (diag) extra sink takes lines again; 0 were lost") == 0);
  CHECK(output_status().sink_errors - errors >= 3);
  CHECK(sink->taken.find("lines lost here: extra sink: refused by the sink") != std::string::npos);
  CHECK(sink->taken.find("takes no lines") == std::string::npos);  // it is not for the one it is about
}
