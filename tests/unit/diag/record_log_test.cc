// SPDX-License-Identifier: Apache-2.0
// A record log that is written is read again: every kind of frame, every kind of argument, several files.
#include <catch2/catch.hpp>

#include <limits>
#include <map>

#include "lib/diag/src/record_log_line.h"
#include "lib/diag/src/record_log_reader.h"
#include "lib/diag/src/record_log_writer.h"
#include "tests/unit/diag/record_bytes.h"

namespace telltale::diag {
namespace {

constexpr std::int64_t kWall = 1'796'000'000'123'456'789;

class Names : public LogNames {
 public:
  LogSite site(std::uint32_t number) const override {
    ++looked_up;
    return {77, number, 40 + number, "http", formats.at(number), "http1/session.cc", "run", "telltale"};
  }
  std::string plugin(std::uint32_t number) const override { return "plugin" + std::to_string(number); }

  std::map<std::uint32_t, std::string> formats{{1, "{}"}, {2, "{} and {}"}, {3, "none"}};
  mutable int looked_up = 0;
};

LogStart start_of_test() {
  LogStart start;
  start.id = {{1, 2}};
  start.wall_ns = kWall;
  start.began_wall_ns = kWall - 5;
  start.pid = 4711;
  start.boot_id = "boot";
  start.host = "host";
  start.program = "telltale";
  return start;
}

struct Log {
  Names names;
  RecordLogWriter writer{names, start_of_test()};
  std::string bytes = writer.beginning({{1, 2}}, kWall);

  void record(std::uint32_t site, RecordBytes record, std::int64_t wall_ns = kWall, std::uint16_t thread = 0,
              std::uint32_t plugin = 0) {
    RecordHeader& header = record.header();
    header.site = site;
    header.ticks = 99;
    header.connection = 12;
    header.transaction = 345;
    header.plugin = plugin;
    std::string all(record.data(), header.size_bytes);
    std::memcpy(all.data(), &header, sizeof header);
    writer.record(bytes, thread, header, all.data(), wall_ns);
  }
};

// All lines; the test fails on damage.
std::vector<std::string> lines_of(std::string_view bytes, ShowLocation show = ShowLocation::kDebugLines, bool json = false) {
  RecordLogReader reader;
  reader.feed(bytes);
  LogLineWriter writer;
  LogEvent event;
  std::vector<std::string> lines;
  for (;;) {
    auto got = reader.next(event);
    if (got == RecordLogReader::Got::kBad) FAIL(reader.error().what << " at " << reader.error().offset);
    if (got == RecordLogReader::Got::kNeedsBytes) break;
    json ? writer.append_json(lines.emplace_back(), event) : writer.append(lines.emplace_back(), event, show);
  }
  CHECK(reader.bytes_left() == 0);
  return lines;
}

}  // namespace

TEST_CASE("RecordLog: a record comes back as its line, with everything that stands before the text", "[diag][record_log]") {
  Log log;
  log.writer.name_thread(3, "worker-3");
  log.record(2, RecordBytes(7, "seven", field("status", 200)), kWall, 3, 5);
  CHECK(lines_of(log.bytes) ==
        std::vector<std::string>{"[2026-11-30T00:53:20.123456Z] [worker-3] DEBUG (http) <http1/session.cc:42 (run)> "
                                 "{c12 t345 plugin5} 7 and seven status=200\n"});
  CHECK(lines_of(log.bytes, ShowLocation::kNever) ==
        std::vector<std::string>{
            "[2026-11-30T00:53:20.123456Z] [worker-3] DEBUG (http) {c12 t345 plugin5} 7 and seven status=200\n"});
  CHECK(lines_of(log.bytes, ShowLocation::kNever, true) ==
        std::vector<std::string>{
            R"({"time":"2026-11-30T00:53:20.123456789Z","level":"DEBUG","tag":"http","file":"http1/session.cc","line":42,)"
            R"("function":"run","module":"telltale","thread":"worker-3","connection":12,"transaction":345,)"
            R"("plugin":"plugin5","text":"7 and seven","fields":{"status":200}})"
            "\n"});
}

TEST_CASE("RecordLog: every kind of argument comes back", "[diag][record_log]") {
  auto text = [](RecordBytes record) {
    Log log;
    log.record(1, record);
    std::string line = lines_of(log.bytes).at(0);
    return line.substr(line.find("t345} ") + 6);
  };
  CHECK(text(RecordBytes(std::numeric_limits<long long>::min())) == "-9223372036854775808\n");
  CHECK(text(RecordBytes(std::numeric_limits<unsigned long long>::max())) == "18446744073709551615\n");
  CHECK(text(RecordBytes(-0.25)) == "-0.25\n");
  CHECK(text(RecordBytes(true)) == "true\n");
  CHECK(text(RecordBytes('x')) == "x\n");
  CHECK(text(RecordBytes(reinterpret_cast<const void*>(0x1234))) == "0x1234\n");
  CHECK(text(RecordBytes("")) == "\n");
  CHECK(text(RecordBytes(std::string_view("a\0b\n\x1b[31m", 9))) == "a\\x00b\\n\\x1b[31m\n");
  CHECK(text(RecordBytes(std::string(2000, 'a'))) == std::string(1024, 'a') + "...[+976 bytes]\n");
  CHECK(text(RecordBytes("v", field("n", 1), field("s", "two"), field("d", 0.5))) == "v n=1 s=two d=0.5\n");
}

TEST_CASE("RecordLog: JSON keeps fields by type and is JSON whatever the text", "[diag][record_log]") {
  Log log;
  log.record(1, RecordBytes("\"q\" \\ \n", field("i", -1), field("u", 2u), field("b", false), field("f", 0.5),
                            field("nan", std::numeric_limits<double>::quiet_NaN()), field("s", "a\"b"), field("c", '"')));
  std::string line = lines_of(log.bytes, ShowLocation::kNever, true).at(0);
  CHECK(line.substr(line.find("\"text\"")) ==
        R"("text":"\"q\" \\\\ \\n","fields":{"i":-1,"u":2,"b":false,"f":0.5,"nan":"nan","s":"a\"b","c":"\""}})"
        "\n");
}

TEST_CASE("RecordLog: a record that names its own origin needs no site", "[diag][record_log]") {
  Log log;
  log.record(0, RecordBytes("", "plugins/note.cc", "int telltale::note(int)", "note {}", 17ull, "x"));
  CHECK(log.names.looked_up == 0);
  CHECK(lines_of(log.bytes).at(0) ==
        "[2026-11-30T00:53:20.123456Z] [] DEBUG <plugins/note.cc:17 (note)> {c12 t345} note x\n");
}

TEST_CASE("RecordLog: names are announced once a file, and again when they change", "[diag][record_log]") {
  Log log;
  log.writer.name_thread(1, "one");
  log.record(3, RecordBytes(), kWall, 1);
  const std::size_t first = log.bytes.size();
  log.record(3, RecordBytes(), kWall, 1);
  CHECK(log.names.looked_up == 1);
  CHECK(log.bytes.size() - first == kRecordFrameHeadBytes + sizeof(RecordHeader));
  log.writer.name_thread(1, "other");
  log.record(3, RecordBytes(), kWall, 1);
  CHECK(log.names.looked_up == 1);
  std::vector<std::string> lines = lines_of(log.bytes);
  REQUIRE(lines.size() == 3);
  CHECK(lines[1].find("[one]") != std::string::npos);
  CHECK(lines[2].find("[other]") != std::string::npos);
}

TEST_CASE("RecordLog: a file that begins later stands alone", "[diag][record_log]") {
  Log log;
  log.writer.name_thread(0, "worker-0");
  log.writer.set_clock({1000, 2000, kWall, 0.5});
  log.writer.set_show_location(ShowLocation::kNever);
  log.record(2, RecordBytes(1, 2), kWall, 0, 9);
  const std::size_t cut = log.bytes.size();
  log.record(2, RecordBytes(3, 4), kWall, 0, 9);
  std::string second = log.writer.beginning({{3, 4}}, kWall + 1) + log.bytes.substr(cut);
  CHECK(lines_of(second).at(0).find("[worker-0] DEBUG (http) <http1/session.cc:42 (run)> {c12 t345 plugin9} 3 and 4") !=
        std::string::npos);

  RecordLogReader reader;
  reader.feed(second);
  LogEvent event;
  REQUIRE(reader.next(event) == RecordLogReader::Got::kEvent);
  CHECK(event.show_location == ShowLocation::kNever);
  const LogStart& start = reader.dictionary().start().value();
  CHECK(start.id == LogId{{3, 4}});
  CHECK(start.wall_ns == kWall + 1);
  CHECK(start.began_wall_ns == kWall - 5);
  CHECK(start.pid == 4711);
  CHECK(start.boot_id == "boot");
  CHECK(start.host == "host");
  CHECK(start.program == "telltale");
  CHECK(reader.dictionary().wall_ns(1000) == kWall);
  CHECK(reader.dictionary().wall_ns(1100) == kWall + 50);
  CHECK(reader.dictionary().wall_ns(900) == kWall - 50);
}

TEST_CASE("RecordLog: after a loss everything is announced again", "[diag][record_log]") {
  Log log;
  log.writer.name_thread(0, "worker-0");
  const std::size_t begun = log.bytes.size();
  log.record(2, RecordBytes(1, 2), kWall, 0, 9);
  log.bytes.resize(begun);
  log.writer.say_all_again();
  log.record(2, RecordBytes(3, 4), kWall, 0, 9);
  CHECK(lines_of(log.bytes).at(0).find("[worker-0] DEBUG (http) <http1/session.cc:42 (run)> {c12 t345 plugin9} 3 and 4") !=
        std::string::npos);
}

TEST_CASE("RecordLog: losses, notices and steps come back", "[diag][record_log]") {
  Log log;
  LogLoss loss{kWall, 5, 3, Level::kDebug, static_cast<std::uint8_t>(DropReason::kFull), false, "worker-0", "http", {}};
  log.writer.loss(log.bytes, loss);
  loss.count = 1;
  loss.other_tags = true;
  log.writer.loss(log.bytes, loss);
  loss.count = 2;
  loss.reason = kLostBySink;
  loss.detail = "diags.blog: No space left on device";
  log.writer.loss(log.bytes, loss);
  log.writer.notice(log.bytes, {kWall, 6, Level::kNote, "diag", "opened anew"});
  log.writer.step(log.bytes, {kWall, 7, -1'500'000'000});
  CHECK(lines_of(log.bytes) ==
        std::vector<std::string>{
            "[2026-11-30T00:53:20.123456Z] [worker-0] WARNING (diag) 3 debug lines of tag http lost here: the ring was full\n",
            "[2026-11-30T00:53:20.123456Z] [worker-0] WARNING (diag) 1 line of other tags and levels lost here: the ring was full\n",
            "[2026-11-30T00:53:20.123456Z] [worker-0] WARNING (diag) 2 lines lost here: diags.blog: No space left on device\n",
            "[2026-11-30T00:53:20.123456Z] [diag] NOTE (diag) opened anew\n",
            "[2026-11-30T00:53:20.123456Z] [diag] WARNING (diag) the system clock was stepped by -1.500000 s\n"});
}

TEST_CASE("RecordLog: a recorder's dictionary tells of records that are in no frame", "[diag][record_log]") {
  std::string bytes;
  append_start_frame(bytes, start_of_test());
  append_site_frame(bytes, {1, 8, 42, "http", "{}", "http1/session.cc", "run", "telltale"});
  append_clock_frame(bytes, {1000, 2000, kWall, 2.0});
  LogDictionary dictionary;
  Frame frame;
  for (std::string_view rest = bytes; take_frame(rest, frame) == FrameIs::kWhole;) {
    CHECK_FALSE(dictionary.take(frame));
  }
  RecordBytes record("text");
  record.header().site = 8;
  record.header().ticks = 1500;
  std::string lies(record.data(), record.header().size_bytes);
  std::memcpy(lies.data(), &record.header(), sizeof(RecordHeader));
  LogEvent event;
  REQUIRE_FALSE(dictionary.event(lies.data(), lies.size(), "worker-1", event));
  CHECK(event.head.wall_ns == kWall + 1000);
  CHECK(event.process == dictionary.process());
  std::string line;
  LogLineWriter().append(line, event, ShowLocation::kNever);
  CHECK(line.substr(line.find(' ')) == " [worker-1] DEBUG (http) text\n");
  CHECK(dictionary.event(lies.data(), lies.size() - 8, "worker-1", event).value().find("a record of 56 bytes") == 0);
}

TEST_CASE("RecordLog: processes are told apart", "[diag][record_log]") {
  auto process = [](LogStart start) {
    std::string bytes;
    append_start_frame(bytes, start);
    std::string_view rest = bytes;
    Frame frame;
    LogDictionary dictionary;
    REQUIRE(take_frame(rest, frame) == FrameIs::kWhole);
    CHECK_FALSE(dictionary.take(frame));
    return dictionary.process();
  };
  LogStart start = start_of_test();
  const std::uint64_t one = process(start);
  start.id = {{8, 9}};
  start.wall_ns += 1'000'000;
  CHECK(process(start) == one);
  for (auto change : {+[](LogStart& s) { ++s.pid; }, +[](LogStart& s) { ++s.began_wall_ns; }, +[](LogStart& s) { s.boot_id += "x"; }}) {
    LogStart other = start_of_test();
    change(other);
    CHECK(process(other) != one);
  }
}

}  // namespace telltale::diag
