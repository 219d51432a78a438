// SPDX-License-Identifier: Apache-2.0
// The binary log as the library writes it: what a reader makes of it is what the text sinks got.
#include <catch2/catch.hpp>

#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <map>
#include <thread>

#include <telltale/diag/capture.h>
#include <telltale/diag/dbg.h>
#include <telltale/diag/level.h>
#include <telltale/diag/printf.h>
#include <telltale/diag/scope.h>
#include <telltale/diag/site_list.h>

#include "lib/diag/src/record_log_file.h"
#include "lib/diag/src/record_log_view.h"
#include "lib/diag/src/rolled_name.h"
#include "tests/unit/diag/debug_state.h"
#include "tests/unit/diag/output_capture.h"
#include "tests/unit/diag/temporary_folder.h"

namespace telltale::diag {
namespace {

constexpr DbgCtl binary_dbg{"binary_test"};

struct DebugState : CleanDebug {
  DebugState() { REQUIRE(set_base({Mode::kOn, "binary_test", "", ""})); }
};

OutputConfig config_of(const TemporaryFolder& folder, std::uint8_t routes, ShowLocation show = ShowLocation::kDebugLines) {
  OutputConfig config;
  config.routes.fill(routes);
  config.show_location = show;
  config.binary_file = folder / "diags.blog";
  return config;
}

void configure(const OutputConfig& config) {
  auto configured = configure_output(config);
  if (!configured) FAIL(configured.error());
  REQUIRE(settle_output(kLongEnough));
}

// Records of all kinds.
void write_some(int round) {
  Context context{.connection = 12, .transaction = static_cast<std::uint64_t>(round), .plugin = plugin_number("noter")};
  Scope scope(&context);
  Dbg(binary_dbg, "round {} of {} \n\x1b", round, std::string(static_cast<std::size_t>(round % 50), 'x'), field("n", round));
  Dbg(binary_dbg, "{} {} {} {:#x}", -1, 0.25, true, 255u);
  note("a note {}", 'c');
  warning("a warning {}", static_cast<const void*>(nullptr));
  if (round % 50 == 0) flush_output(kLongEnough);  // the ring holds a thousand
}

std::string lines_of(const std::string& path) {
  std::string all;
  auto file = LogFile::open(path);
  if (!file) FAIL(file.error());
  LogPrinter printer({}, [&](std::string_view lines) {
    all += lines;
    return true;
  });
  LogEvent event;
  for (LogFile::Got got; (got = (*file)->next(event)) != LogFile::Got::kEnd;) {
    if (got == LogFile::Got::kBad) FAIL((*file)->error());
    printer.take(event);
  }
  printer.end();
  return all;
}

// Rolled ones in their order, then the live one.
std::string lines_of_all(const TemporaryFolder& folder) {
  std::string all;
  for (const std::string& name : folder.names()) {
    if (parse_rolled_name("diags.blog", name)) all += lines_of(folder / name);
  }
  return all + lines_of(folder / "diags.blog");
}

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t n = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string_view::npos; ++at) ++n;
  return n;
}

}  // namespace

TEST_CASE("binary log: what is read is byte for byte what the text sinks got", "[diag][binary]") {
  DebugState state;
  TemporaryFolder folder;
  Capture capture;
  for (ShowLocation show : {ShowLocation::kNever, ShowLocation::kDebugLines, ShowLocation::kAllLines}) {
    configure(config_of(folder, kToExtra | kToBinary, show));
    std::thread other([] {
      set_thread_name("other");
      for (int i = 0; i < 300; ++i) write_some(i);
      set_thread_name("renamed");
      for (int i = 0; i < 300; ++i) write_some(i);
    });
    for (int i = 0; i < 300; ++i) write_some(i);
    other.join();
  }
  std::string text = capture.text();
  CHECK(count(text, "[renamed] DEBUG (binary_test)") == 3 * 600);
  CHECK(text == lines_of(folder / "diags.blog"));
}

TEST_CASE("binary log: a record that goes nowhere else is counted, and is its site's last line", "[diag][binary]") {
  DebugState state;
  TemporaryFolder folder;
  Capture capture;
  configure(config_of(folder, kToBinary));
  const std::uint64_t before = output_status().lines_written;
  for (int i = 0; i < 5000; ++i) {
    Dbg(binary_dbg, "only binary {}", i);
    if (i % 1000 == 0) flush_output(kLongEnough);
  }
  REQUIRE(flush_output(kLongEnough));
  CHECK(output_status().lines_written - before == 5000);
  CHECK(capture.text().empty());
  std::string lines = lines_of(folder / "diags.blog");
  CHECK(count(lines, "only binary ") == 5000);
  SiteQuery query;
  query.text = "only binary";
  auto list = sites(query);
  REQUIRE(list);
  REQUIRE(list->sites.size() == 1);
  CHECK(list->sites[0].hits == 5000);
  std::string last = lines.substr(lines.rfind('\n', lines.size() - 2) + 1);
  CHECK(list->sites[0].last_line + "\n" == last);
}

TEST_CASE("binary log: a transaction that is followed is followed in text", "[diag][binary]") {
  DebugState state;
  TemporaryFolder folder;
  Capture capture;
  configure(config_of(folder, kToBinary));
  clear_capture();
  capture_transaction(77);
  write_some(76);
  write_some(77);
  REQUIRE(flush_output(kLongEnough));
  capture_transaction(0);
  std::string followed = take_captured().lines;
  CHECK(count(followed, "\n") == 4);
  std::string lines = lines_of(folder / "diags.blog");
  CHECK(lines.substr(lines.size() - followed.size()) == followed);
}

TEST_CASE("binary log: rolled by size, each file stands alone and no line is lost", "[diag][binary]") {
  DebugState state;
  TemporaryFolder folder;
  Capture capture;
  OutputConfig config = config_of(folder, kToExtra | kToBinary);
  config.roll.size_bytes = 100'000;
  configure(config);
  std::string text;
  for (int i = 0; i < 60; ++i) {
    std::thread([i] {
      set_thread_name("thread " + std::to_string(i));
      for (int n = 0; n < 50; ++n) write_some(n);
    }).join();
    text += capture.text();
  }
  CHECK(folder.names().size() > 5);
  CHECK(lines_of_all(folder) == text);
}

TEST_CASE("binary log: moved away, deleted and configured anew, each file stands alone", "[diag][binary]") {
  DebugState state;
  TemporaryFolder folder;
  Capture capture;
  OutputConfig config = config_of(folder, kToExtra | kToBinary);
  configure(config);
  write_some(1);
  std::string first = capture.text();
  std::filesystem::rename(folder / "diags.blog", folder / "moved");
  configure(config);
  write_some(2);
  std::string second = capture.text();
  CHECK(lines_of(folder / "moved") == first);
  CHECK(lines_of(folder / "diags.blog") == second);
  configure(config);  // the same file goes on
  write_some(3);
  second += capture.text();
  CHECK(lines_of(folder / "diags.blog") == second);
  // Nor is one appended to that somebody else has put there.
  std::filesystem::rename(folder / "diags.blog", folder / "moved again");
  folder.write("diags.blog", "a text\n");
  configure(config);
  write_some(3);
  CHECK(lines_of(folder / "diags.blog") == capture.text());
  std::vector<std::string> names = folder.names();
  REQUIRE(names.size() == 4);
  CHECK(parse_rolled_name("diags.blog", names[1]));
  CHECK(folder.read(names[1]) == "a text\n");
  std::filesystem::remove(folder / names[1]);
  std::filesystem::rename(folder / "moved again", folder / "diags.blog");
  // One that was there before is not appended to.
  config.binary_file.clear();
  config.routes.fill(kToExtra);
  configure(config);
  configure(config_of(folder, kToExtra | kToBinary));
  write_some(4);
  std::string third = capture.text();
  third = third.substr(third.find("round"));
  std::string found = lines_of(folder / "diags.blog");
  CHECK(found.substr(found.find("round")) == third);
  CHECK(lines_of_all(folder).find(second) == 0);
}

TEST_CASE("binary log: a full disk costs records, counted, and what follows is whole", "[diag][binary]") {
  DebugState state;
  TemporaryFolder folder;
  Capture capture;
  configure(config_of(folder, kToBinary));
  write_some(1);
  REQUIRE(flush_output(kLongEnough));
  const OutputStatus before = output_status();
  rlimit saved;
  getrlimit(RLIMIT_FSIZE, &saved);
  rlimit small = saved;
  small.rlim_cur = std::filesystem::file_size(folder / "diags.blog") + 100;
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  write_some(2);
  bool flushed = flush_output(kLongEnough);
  setrlimit(RLIMIT_FSIZE, &saved);
  signal(SIGXFSZ, SIG_DFL);
  CHECK(flushed);
  Dbg(binary_dbg, "after {}", "all");
  REQUIRE(flush_output(kLongEnough));
  REQUIRE(settle_output(kLongEnough));
  const OutputStatus after = output_status();
  CHECK(after.lines_lost - before.lines_lost == 4);
  std::map<std::string, std::uint64_t> lost;  // by level and tag
  for (const DropState& one : after.sink_losses) {
    if (one.reason == folder / "diags.blog") lost[one.level + " " + one.tag] += one.count;
  }
  CHECK(lost == std::map<std::string, std::uint64_t>{{"debug binary_test", 2}, {"note ", 1}, {"warning ", 1}});
  CHECK(after.lines_written - before.lines_written == 5);
  std::string lines = lines_of(folder / "diags.blog");
  CHECK(count(lines, "\n") == 6);
  CHECK(lines.find("4 lines lost here: " + (folder / "diags.blog") + ": File too large\n") != std::string::npos);
  CHECK(lines.find("(binary_test) <tests/unit/diag/binary_output_test.cc:") < lines.rfind("after all\n"));
  CHECK(lines.ends_with("after all\n"));
}

TEST_CASE("binary log: what a ring had no room for is a loss in it, with the count of the text", "[diag][binary]") {
  DebugState state;
  TemporaryFolder folder;
  Capture capture;
  configure(config_of(folder, kToExtra | kToBinary));
  const OutputStatus before = output_status();
  std::thread([&] {
    set_thread_name("flood");
    capture.hold([] { Dbg(binary_dbg, "held"); });
    for (int i = 0; i < 20'000; ++i) Dbg(binary_dbg, "flood {}", i);
    capture.release();
    REQUIRE(flush_output(kLongEnough));
  }).join();
  std::string text = capture.text();
  CHECK(output_status().records_dropped > before.records_dropped);
  CHECK(count(text, " debug lines of tag binary_test lost here: the ring was full\n") >= 1);
  CHECK(text == lines_of(folder / "diags.blog"));

  // And as a number, for those who sum.
  auto file = LogFile::open(folder / "diags.blog");
  LogEvent event;
  std::uint64_t lost = 0;
  while ((*file)->next(event) == LogFile::Got::kEvent) {
    if (event.kind != LogEventKind::kLoss) continue;
    CHECK(event.lost_tag == "binary_test");
    CHECK(event.head.thread == "flood");
    lost += event.lost;
  }
  CHECK(lost == output_status().records_dropped - before.records_dropped);
}

TEST_CASE("binary log: what cannot be one is refused, and nothing changes", "[diag][binary]") {
  TemporaryFolder folder;
  auto error = [](const OutputConfig& config) {
    auto configured = configure_output(config);
    return configured ? std::string("none") : configured.error();
  };
  OutputConfig config = config_of(folder, kToBinary);
  config.binary_file.clear();
  CHECK(error(config) == "lines are routed to the binary log, but there is none");
  config.binary_file = config.log_file = folder / "diags.log";
  CHECK(error(config) == "the log file and the binary log are both " + (folder / "diags.log"));
  config.log_file.clear();
  config.binary_file = folder / "no/diags.blog";
  CHECK(error(config) == "binary log " + (folder / "no/diags.blog") + " cannot be opened: No such file or directory");
  config.binary_file = "/dev/null";
  CHECK(error(config) == "binary log /dev/null is not a regular file");
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  config.binary_file = folder / "pipe";
  CHECK(error(config).find("binary log " + (folder / "pipe") + " cannot be opened: ") == 0);
}

}  // namespace telltale::diag
