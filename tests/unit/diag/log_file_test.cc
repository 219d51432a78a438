// SPDX-License-Identifier: Apache-2.0
// The log file behind the backend: rolled and opened anew while threads write; and a stderr beside it that is stuck.
// The file itself: rotating_file_test.cc.
#include <catch2/catch.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <telltale/diag/level.h>
#include <telltale/diag/output.h>

#include "output_capture.h"
#include "temporary_folder.h"

using namespace telltale::diag;

namespace {

OutputConfig all_to(std::uint8_t routes, std::string log_file) {
  OutputConfig config;
  config.routes.fill(routes);
  config.log_file = std::move(log_file);
  return config;
}

}  // namespace

TEST_CASE("output: lines of 8 threads are once there over size rolls, and moves with a reopening (B26, AC-37)", "[diag][output]") {
  Capture capture;
  TemporaryFolder folder;
  OutputConfig config = all_to(kToLogFile, folder / "log");
  config.roll.size_bytes = 400'000;
  REQUIRE(configure_output(config));
  constexpr int kThreads = 8, kLines = 20'000, kMoves = 20;
  OutputStatus before = output_status();
  std::atomic<int> running{kThreads};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([t, &running] {
      for (int i = 0; i < kLines; ++i) {
        note("{} {}", t, i);
        if (i % 500 == 499) flush_output(kLongEnough);  // else the backend drops most, and there is little to roll
      }
      --running;
    });
  }
  int moved = 0;
  bool reopened = true;  // looked at when the threads have ended
  while (reopened && (running > 0 || moved < kMoves)) {
    std::error_code rolled_just_now;  // then it is not there for a moment
    if (moved < kMoves) std::filesystem::rename(folder / "log", folder / ("moved." + std::to_string(moved)), rolled_just_now);
    if (moved == kMoves || rolled_just_now) {
      std::this_thread::yield();
      continue;
    }
    ++moved;
    // What was moved is complete behind this, and the name is there again.
    reopened = configure_output(config).has_value() && settle_output(kLongEnough);
  }
  for (std::thread& t : threads) t.join();
  REQUIRE(reopened);
  REQUIRE(flush_output(kLongEnough));
  OutputStatus after = output_status();
  std::vector<std::vector<int>> seen(kThreads, std::vector<int>(kLines));
  std::uint64_t kept = 0;
  std::size_t rolled = 0;
  for (const std::string& name : folder.names()) {
    std::string text = folder.read(name);
    CHECK((text.empty() || text.back() == '\n'));
    CHECK(text.size() <= 400'000);
    if (name != "log" && !name.starts_with("moved.")) ++rolled;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
      int t, i;
      std::size_t at = line.find("] NOTE ");
      if (at == std::string::npos || sscanf(line.c_str() + at + 7, "%d %d", &t, &i) != 2) continue;
      if (t < 0 || t >= kThreads || i < 0 || i >= kLines || seen[t][i]++ != 0) FAIL(name << ": " << line);
      ++kept;
    }
  }
  CHECK(kept == after.records_written - before.records_written);
  CHECK(kept + after.records_dropped - before.records_dropped == kThreads * kLines);
  CHECK(after.lines_lost == before.lines_lost);
  INFO(rolled);
  CHECK(rolled >= 5);
}

TEST_CASE("output: the log is rolled by new settings for the same name, and its state is shown", "[diag][output]") {
  Capture capture;
  TemporaryFolder folder;
  OutputConfig config = all_to(kToLogFile, folder / "log");
  REQUIRE(configure_output(config));
  for (int i = 0; i < 100; ++i) note("{}", i);
  config.roll = {.size_bytes = 1000, .space_bytes_max = 1'000'000};
  REQUIRE(configure_output(config));
  REQUIRE(settle_output(kLongEnough));
  note("in the next");
  REQUIRE(flush_output(kLongEnough));
  CHECK(folder.names().size() == 2);
  CHECK(folder.read("log").ends_with("NOTE in the next\n"));
  REQUIRE(settle_output(kLongEnough));
  std::optional<FileState> file;
  for (const SinkState& sink : output_status().sinks) {
    if (sink.name == folder / "log") file = sink.file;
  }
  REQUIRE(file);
  CHECK(file->rolls == 1);
  CHECK(file->path == folder / "log");
  CHECK(file->open);
  CHECK(file->not_rolled.empty());
  CHECK(file->rolled_files == 1);
  CHECK(file->rolled_bytes > 4000);
  config.roll.space_bytes_max = 999;
  auto refused = configure_output(config);
  REQUIRE_FALSE(refused);
  CHECK(refused.error() == "the log file would be larger than all its files together may be");
  config.roll = {.interval = std::chrono::seconds(-1)};
  CHECK_FALSE(configure_output(config));
}

TEST_CASE("output: a stderr nobody reads costs its own lines, those for the file go on (B37)", "[diag][output]") {
  Capture capture;
  TemporaryFolder folder;
  int ends[2];
  REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
  int saved = dup(STDERR_FILENO);
  dup2(ends[1], STDERR_FILENO);
  OutputStatus before = output_status();
  constexpr int kLines = 3000;
  REQUIRE(configure_output(all_to(kToStderr | kToLogFile, folder / "log")));
  bool flushed = true;
  for (int i = 0; i < kLines; ++i) {
    note("{} {}", i, std::string(100, 'x'));
    if (i % 100 == 99) flushed = flushed && flush_output(kLongEnough);  // so that the ring is never full
  }
  bool shown = settle_output(kLongEnough);
  OutputStatus after = output_status();
  std::string piped(1 << 20, '\0');
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  piped.resize(static_cast<std::size_t>(std::max<ssize_t>(read(ends[0], piped.data(), piped.size()), 0)));
  // It is read again: so are lines for it.
  note("read again");
  bool again = flush_output(kLongEnough) && settle_output(kLongEnough);
  char rest[4096];
  ssize_t n = read(ends[0], rest, sizeof rest);
  dup2(saved, STDERR_FILENO);
  close(saved);
  close(ends[0]);
  close(ends[1]);
  REQUIRE(flushed);
  REQUIRE(again);
  REQUIRE(shown);
  CHECK(after.records_dropped == before.records_dropped);
  std::string log = folder.read("log");
  std::uint64_t lost = after.lines_lost - before.lines_lost;
  CHECK(std::count(log.begin(), log.end(), '\n') == kLines + 1 + 2);  // two tell of stderr's trouble and of its end
  CHECK(lost > 0);
  auto notes_lost = [](const OutputStatus& status) {
    std::uint64_t sum = 0;
    for (const DropState& one : status.sink_losses) {
      if (one.reason == "stderr" && one.level == "note") sum += one.count;
    }
    return sum;
  };
  CHECK(notes_lost(after) - notes_lost(before) == lost);
  CHECK(static_cast<std::uint64_t>(std::count(piped.begin(), piped.end(), '\n')) == kLines - lost);
  REQUIRE(n > 0);
  std::string told(rest, static_cast<std::size_t>(n));
  CHECK(told.find(std::to_string(lost) + " lines lost here: stderr: nobody reads it\n") != std::string::npos);
  CHECK(told.ends_with("NOTE read again\n"));
}
