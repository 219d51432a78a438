// SPDX-License-Identifier: Apache-2.0
// syslog as a sink: what is sent, whether it is RFC 5424 whatever the bytes, and what becomes of it without a receiver.
#include <catch2/catch.hpp>

#include <unistd.h>

#include <chrono>
#include <memory>
#include <random>
#include <string>

#include <telltale/diag/dbg.h>
#include <telltale/diag/debug_control.h>
#include <telltale/diag/level.h>
#include <telltale/diag/output.h>
#include <telltale/diag/scope.h>

#include "syslog_sink.h"
#include "tests/support/journal_receiver.h"
#include "tests/support/syslog_line.h"
#include "tests/unit/diag/debug_state.h"
#include "tests/unit/diag/output_capture.h"
#include "tests/unit/diag/temporary_folder.h"

using namespace telltale::diag;
using telltale::test::JournalReceiver;
using telltale::test::parse_syslog;
using telltale::test::SyslogLine;

namespace {

constexpr DbgCtl syslog_dbg{"syslog_test"};

SyslogLine parsed(std::string_view datagram) {
  INFO(datagram);
  auto line = parse_syslog(datagram);
  REQUIRE(line);
  return *line;
}

// All levels go to a syslog of the test's, notes to a file too.
class ToSyslog {
 public:
  ToSyslog() : path(folder / "log") {
    set_throttle({.interval = std::chrono::milliseconds{0}});
    OutputConfig config;
    config.routes.fill(kToSyslog);
    config.routes[static_cast<std::size_t>(Level::kNote)] = kToSyslog | kToLogFile;
    config.log_file = folder / "diags.log";
    config.syslog_socket = path;
    config.identifier = "unit";
    config.facility = 16;
    REQUIRE(configure_output(config));
    settle_output(kLongEnough);
  }
  ~ToSyslog() {
    (void)configure_output({});
    settle_output(kLongEnough);
  }
  SinkState state() {
    settle_output(kLongEnough);
    for (const SinkState& sink : output_status().sinks) {
      if (sink.name == path) return sink;
    }
    return {};
  }
  std::size_t notes_with(const std::string& text) {
    std::size_t n = 0;
    const std::string log = folder.read("diags.log");
    for (std::size_t at = log.find(text); at != std::string::npos; at = log.find(text, at + 1)) ++n;
    return n;
  }

  TemporaryFolder folder;
  std::string path;
};

}  // namespace

TEST_CASE("SyslogEncoder: a record's parts, as documented", "[diag][syslog]") {
  SyslogEncoder encoder(3, "the host", "telltale", 4711);
  const EntryField fields[] = {{"status", "200", FieldKind::kNumber}, {"a=b c]\"", "x\"y]z\\\\", FieldKind::kText}};
  Entry e;
  e.wall_ns = 1'764'496'800'123'456'789;
  e.level = Level::kWarning;
  e.tag = "http";
  e.file = "http1/session.cc";
  e.line = 95;
  e.function = "run";
  e.thread = "worker-0";
  e.thread_id = 4712;
  e.connection = 12;
  e.transaction = 345;
  e.plugin = "noter";
  e.client = "192.0.2.1";
  e.message = "the message";
  e.fields = fields;
  CHECK(encoder.encode(e) ==
        R"(<28>1 2025-11-30T10:00:00.123456Z the_host telltale 4711 http [telltale@32473 thread="worker-0" tid="4712" )"
        R"(file="http1/session.cc" line="95" function="run" conn="12" txn="345" plugin="noter" client="192.0.2.1"])"
        R"([fields@32473 status="200" a_b_c__="x\"y\]z\\\\"] the message)");
  CHECK(parsed(encoder.encode(e)).data.at("fields@32473").at("a_b_c__") == "x\"y]z\\\\");
  CHECK(encoder.encode(Entry{}) == "<31>1 1970-01-01T00:00:00.000000Z the_host telltale 4711 - [telltale@32473]");
  const unsigned severities[] = {7, 6, 5, 4, 3, 2, 1, 0};
  for (std::size_t level = 0; level < kLevels; ++level) {
    Entry of;
    of.level = static_cast<Level>(level);
    CHECK(parsed(encoder.encode(of)).severity == severities[level]);
  }
}

TEST_CASE("SyslogEncoder: a datagram has its limit, and says what is missing", "[diag][syslog]") {
  SyslogEncoder encoder(3, "host", "telltale", 1);
  const std::string large(40'000, 'f');
  const EntryField fields[] = {{"large", large, FieldKind::kText}, {"small", "1", FieldKind::kNumber}};
  Entry e;
  e.fields = fields;
  std::string message(100'000, 'm');
  for (std::size_t i = 0; i < message.size(); i += 2) message.replace(i, 2, "\xc3\xa4");
  e.message = message;
  const SyslogLine line = parsed(encoder.encode(e));
  CHECK(encoder.encode(e).size() <= SyslogEncoder::kBytesMax);
  CHECK(line.data.at("telltale@32473").at("dropped") == "1");
  CHECK(line.data.at("fields@32473").at("small") == "1");
  const std::size_t mark = line.message.find("...[+");
  REQUIRE(mark != std::string::npos);
  CHECK(mark % 2 == 0);
  CHECK(line.message.substr(mark) == "...[+" + std::to_string(message.size() - mark) + " bytes]");
  message.resize(SyslogEncoder::kBytesMax - std::string(encoder.encode(Entry{})).size() - 1);
  Entry fits;
  fits.message = message;
  CHECK(parsed(encoder.encode(fits)).message == message);
}

TEST_CASE("SyslogEncoder: is RFC 5424 whatever names and values are", "[diag][syslog]") {
  std::mt19937 random(20261130);
  auto bytes = [&random](std::size_t most) {
    std::string text(random() % (most + 1), '\0');
    for (char& c : text) c = random() % 2 == 0 ? "\"\\]= <>\n"[random() % 8] : static_cast<char>(random());
    return text;
  };
  for (int i = 0; i < 20'000; ++i) {
    const std::string texts[] = {bytes(300), bytes(60), bytes(40), bytes(40), bytes(40), bytes(40)};
    SyslogEncoder encoder(static_cast<unsigned>(random() % 24), texts[0], texts[1], 1);
    const EntryField fields[] = {{texts[2], texts[3], FieldKind::kText}, {texts[4], texts[5], FieldKind::kText}};
    Entry e;
    e.level = static_cast<Level>(random() % kLevels);
    e.tag = texts[1];
    e.thread = texts[2];
    e.function = texts[0];
    e.client = texts[3];
    e.fields = fields;
    e.message = texts[5];
    const SyslogLine line = parsed(encoder.encode(e));
    std::string on_one_line;
    for (char c : texts[5]) c == '\n' ? on_one_line += "\\n" : on_one_line += c;
    REQUIRE(line.message == on_one_line);
  }
}

TEST_CASE("syslog: a debug line arrives with its parts", "[diag][syslog][output]") {
  const CleanDebug debug;
  REQUIRE(set_base({.mode = Mode::kOn, .tags = "syslog_test"}));
  ToSyslog to;
  JournalReceiver receiver(to.path);
  Context context{.connection = 12, .transaction = 345};
  Scope scope(&context);
  Dbg(syslog_dbg, "stored {}", "x\n", field("status", 200));
  flush_output(kLongEnough);
  const SyslogLine line = parsed(receiver.take_bytes().value());
  CHECK(line.facility == 16);
  CHECK(line.severity == 7);
  CHECK(line.app == "unit");
  CHECK(line.process == std::to_string(::getpid()));
  CHECK(line.id == "syslog_test");
  CHECK(line.message == "stored x\\n");
  CHECK(line.data.at("fields@32473").at("status") == "200");
  CHECK(line.data.at("telltale@32473").at("conn") == "12");
  CHECK(line.data.at("telltale@32473").at("txn") == "345");
  CHECK(line.data.at("telltale@32473").at("tid") == std::to_string(::gettid()));
}

TEST_CASE("syslog: what has no receiver is counted, told once elsewhere, and one that comes is met", "[diag][syslog][output]") {
  ToSyslog to;
  const std::uint64_t before = to.state().lost;  // by other tests' sockets
  for (int i = 0; i < 100; ++i) status("nobody hears {}", i);
  flush_output(kLongEnough);
  CHECK(to.state().lost - before >= 100);
  CHECK(to.state().failing);
  const std::uint64_t lost = to.state().lost - before;
  note("in the file");
  flush_output(kLongEnough);
  CHECK(to.notes_with("syslog is not there, " + to.path) == 1);

  JournalReceiver receiver(to.path);
  std::uint64_t sent = 0;
  tl::expected<std::string, std::string> first = tl::unexpected<std::string>("");
  while (!first) {
    status("again {}", sent++);
    flush_output(kLongEnough);
    first = receiver.take_bytes();
  }
  const SyslogLine marker = parsed(*first);
  CHECK(marker.severity == 4);
  CHECK(std::stoull(marker.data.at("telltale@32473").at("lost")) > lost);
  CHECK(marker.data.at("telltale@32473").at("lost") == std::to_string(to.state().lost - before));
  CHECK(parsed(receiver.take_bytes().value()).message == "again " + std::to_string(sent - 1));
  while (to.notes_with("syslog takes records again; ") == 0) flush_output(kLongEnough);
  CHECK(to.notes_with("syslog takes records again; " + std::to_string(to.state().lost - before) + " were lost") == 1);
}

TEST_CASE("syslog: a receiver that does not read costs counted lines only", "[diag][syslog][output]") {
  ToSyslog to;
  JournalReceiver receiver(to.path);
  constexpr std::uint64_t kLines = 200;
  const std::uint64_t before = to.state().lost;
  for (std::uint64_t i = 0; i < kLines; ++i) status("line {}", i);
  flush_output(kLongEnough);
  CHECK(to.state().lost > before);
  CHECK(to.state().last_error == "nobody reads it");
  CHECK(to.state().lines + to.state().lost >= kLines);
}
