// SPDX-License-Identifier: Apache-2.0
// journald as a sink of the library: what a record's parts become there, what is lost and said, and who is told.
#include <catch2/catch.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <fmt/chrono.h>

#include <telltale/diag/dbg.h>
#include <telltale/diag/debug_control.h>
#include <telltale/diag/level.h>
#include <telltale/diag/output.h>
#include <telltale/diag/scope.h>

#include "tests/support/journal_receiver.h"
#include "tests/unit/diag/debug_state.h"
#include "tests/unit/diag/output_capture.h"
#include "tests/unit/diag/temporary_folder.h"

using namespace telltale::diag;
using namespace std::chrono_literals;
using telltale::test::JournalEntry;
using telltale::test::JournalReceiver;

namespace {

constexpr DbgCtl journal_dbg{"journal_test"};

// All levels go to a journald of the test's; notes also to a log.
class ToJournal {
 public:
  explicit ToJournal(bool there = true) {
    set_throttle({.interval = 0ms});
    if (there) begin();
    configure();
    (void)set_base({Mode::kOn, "journal_test", ""});
  }
  ~ToJournal() {
    (void)set_base({Mode::kOff, "x", ""});
    (void)configure_output({});
    (void)settle_output(kLongEnough);
  }
  void configure() {
    OutputConfig config;
    config.routes.fill(kToJournald);
    config.routes[static_cast<std::size_t>(Level::kNote)] = kToJournald | kToLogFile;
    config.log_file = folder / "log";
    config.journald_socket = path;
    config.identifier = "unit";
    if (auto done = configure_output(config); !done) throw std::runtime_error(done.error());
    (void)settle_output(kLongEnough);
  }
  void begin() { receiver = std::make_unique<JournalReceiver>(path); }

  // The next entry; fails where it is not there or not good.
  JournalEntry entry() {
    flush_output(kLongEnough);
    auto entries = receiver->take();
    if (!entries) FAIL(entries.error());
    REQUIRE(entries->size() == 1);
    return entries->front();
  }
  bool empty() {
    flush_output(kLongEnough);
    return !receiver->take_bytes();
  }
  std::map<std::string, std::uint64_t> counts() {
    flush_output(kLongEnough);
    (void)settle_output(kLongEnough);
    std::map<std::string, std::uint64_t> all;
    for (const SinkState& sink : output_status().sinks) {
      if (sink.name != path) continue;
      for (const SinkCount& count : sink.counts) all[count.name] = count.count;
    }
    return all;
  }

  TemporaryFolder folder;
  std::string path = folder / "socket";
  std::unique_ptr<JournalReceiver> receiver;
};

std::size_t times(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

}  // namespace

TEST_CASE("journal: J1 and J4, a debug line is an entry with its parts, none of them twice", "[diag][journal]") {
  ToJournal to;
  Context context;
  context.connection = 12;
  context.transaction = 345;
  context.plugin = plugin_number("header_note");
  {
    Scope scope(&context);
    Dbg(journal_dbg, "asked for {}", "/a b\n", field("status", 200), field("a-b", "x\ny"));
  }
  JournalEntry e = to.entry();
  CHECK(e.value("MESSAGE") == "asked for /a b\\n");
  CHECK(e.value("PRIORITY") == "7");
  CHECK(e.value("SYSLOG_IDENTIFIER") == "unit");
  CHECK(e.value("SYSLOG_FACILITY") == "3");
  CHECK(e.value("SYSLOG_PID") == std::to_string(::getpid()));
  CHECK(e.value("TID") == std::to_string(::gettid()));
  CHECK(e.value("CODE_FILE") == "tests/unit/diag/journal_sink_test.cc");
  CHECK(e.value("CODE_LINE") != "0");
  CHECK(e.value("DIAG_TAG") == "journal_test");
  CHECK(e.value("DIAG_TXN") == "345");
  CHECK(e.value("DIAG_CONN") == "12");
  CHECK(e.value("DIAG_PLUGIN") == "header_note");
  CHECK(e.value("STATUS") == "200");
  CHECK(e.value("A_B") == "x\\ny");
  warning("level {}", 4);
  CHECK(to.entry().value("PRIORITY") == "4");
  CHECK(to.empty());
}

TEST_CASE("journal: J12, a value of any kind is a field of this text", "[diag][journal]") {
  using namespace std::string_view_literals;
  ToJournal to;
  auto is = [&](const auto& value, std::string_view text) {
    Dbg(journal_dbg, "m", field("v", value));
    CHECK(to.entry().value("V") == text);
  };
  is(std::numeric_limits<std::int8_t>::min(), "-128");
  is(std::numeric_limits<std::int8_t>::max(), "127");
  is(std::numeric_limits<std::uint8_t>::max(), "255");
  is(std::numeric_limits<std::int16_t>::min(), "-32768");
  is(std::numeric_limits<std::uint16_t>::max(), "65535");
  is(std::numeric_limits<std::int32_t>::min(), "-2147483648");
  is(std::numeric_limits<std::uint32_t>::max(), "4294967295");
  is(std::numeric_limits<std::int64_t>::min(), "-9223372036854775808");
  is(std::numeric_limits<std::int64_t>::max(), "9223372036854775807");
  is(std::numeric_limits<std::uint64_t>::max(), "18446744073709551615");
  is(true, "true");
  is(false, "false");
  is('c', "c");
  is('\n', "\\n");
  is(0.1, "0.1");
  is(1e300, "1e+300");
  is(-0.0, "-0");
  is(0.5f, "0.5");
  is(std::numeric_limits<double>::infinity(), "inf");
  is(std::numeric_limits<double>::quiet_NaN(), "nan");
  is(1500ms, "1500ms");
  is(nullptr, "0x0");
  is(reinterpret_cast<const void*>(0x1000), "0x1000");
  is(static_cast<const char*>(nullptr), "(null)");
  is("a\0b"sv, "a\\x00b");
  is(""sv, "");
  is("\x1b[31m\r\xff\xc2\x9b=\\"sv, "\\x1b[31m\\r\\xff\\xc2\\x9b=\\\\");
  is("gr\xc3\xbc\xc3\x9f"sv, "gr\xc3\xbc\xc3\x9f");
  is(std::string(2000, 'x'), std::string(1024, 'x') + "...[+976 bytes]");
}

TEST_CASE("journal: a journald that is not there is told of once, elsewhere, and counted; what it missed is told when it is back", "[diag][journal]") {
  ToJournal to(false);
  for (int i = 0; i < 50; ++i) Dbg(journal_dbg, "lost {}", i);
  flush_output(kLongEnough);
  auto counts = to.counts();
  CHECK(counts["sent"] == 0);
  CHECK(counts["dropped"] == 50);
  CHECK(counts["absent"] == 50);
  std::string log = to.folder.read("log");
  CHECK(times(log, "journald is not there, " + to.path) == 1);

  to.begin();
  JournalEntry e;
  // It is tried again by itself; a deadline for a broken library only.
  for (auto until = std::chrono::steady_clock::now() + kLongEnough; e.fields.empty() && std::chrono::steady_clock::now() < until;) {
    if (auto entries = to.receiver->take()) e = entries->front();
  }
  CHECK(e.value("MESSAGE") == "50 lines lost here: " + to.path + ": No such file or directory");
  CHECK(e.value("PRIORITY") == "4");
  Dbg(journal_dbg, "after");
  CHECK(to.entry().value("MESSAGE") == "after");
  counts = to.counts();
  CHECK(counts["sent"] == 1);
  CHECK(counts["dropped"] == 50);
}

TEST_CASE("journal: J8, who does not read loses, and then all is accounted for", "[diag][journal]") {
  ToJournal to;
  constexpr std::uint64_t kLines = 2000;
  for (std::uint64_t i = 0; i < kLines; ++i) Dbg(journal_dbg, "line {}", i);
  flush_output(kLongEnough);
  auto counts = to.counts();
  CHECK(counts["sent"] + counts["dropped"] == kLines);
  CHECK(counts["dropped"] > 0);
  // All that is there is read, and then what was missed is told before what follows.
  std::uint64_t came = 0;
  while (auto entries = to.receiver->take()) came += entries->size();
  CHECK(came == counts["sent"]);
  JournalEntry e;
  for (auto until = std::chrono::steady_clock::now() + kLongEnough; e.fields.empty() && std::chrono::steady_clock::now() < until;) {
    if (auto entries = to.receiver->take()) e = entries->front();
  }
  CHECK(e.value("MESSAGE") == std::to_string(counts["dropped"]) + " lines lost here: " + to.path + ": journald does not read");
  CHECK(times(to.folder.read("log"), "journald has read nothing for 200 ms") == 1);
}

TEST_CASE("journal: a configuration with the same socket goes on counting", "[diag][journal]") {
  ToJournal to;
  Dbg(journal_dbg, "before");
  CHECK(to.entry().value("MESSAGE") == "before");
  to.configure();
  Dbg(journal_dbg, "after");
  CHECK(to.entry().value("MESSAGE") == "after");
  CHECK(to.counts()["sent"] == 2);
}

TEST_CASE("journal: a socket's path that cannot be is refused, and nothing is changed", "[diag][journal]") {
  Capture capture;
  OutputConfig config;
  config.routes.fill(kToJournald);
  config.journald_socket = "relative";
  auto done = configure_output(config);
  REQUIRE_FALSE(done);
  CHECK(done.error().find("\"relative\": expected an absolute path") != std::string::npos);
  status("still here");
  CHECK(capture.text().find("still here") != std::string::npos);
}

TEST_CASE("journal: J11, a child that configures output has entries with its own number", "[diag][journal]") {
  ToJournal to;
  pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    to.configure();
    Dbg(journal_dbg, "of the child");
    ::_exit(flush_output(kLongEnough) ? 0 : 1);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  JournalEntry e = to.entry();
  CHECK(e.value("MESSAGE") == "of the child");
  CHECK(e.value("SYSLOG_PID") == std::to_string(child));
  CHECK(to.receiver->last_sender() == static_cast<std::uint32_t>(child));
}
