// SPDX-License-Identifier: Apache-2.0
// Entries: what a sink that takes records by their parts is given, and the JSON made of it.
#include <telltale/diag/entry.h>

#include <catch2/catch.hpp>

#include <condition_variable>
#include <cstdarg>
#include <cstdint>
#include <fstream>
#include <limits>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include <telltale/diag/dbg.h>
#include <telltale/diag/debug_control.h>
#include <telltale/diag/level.h>
#include <telltale/diag/output.h>
#include <telltale/diag/printf.h>
#include <telltale/diag/scope.h>
#include <telltale/diag/throttle.h>

#include "debug_state.h"
#include "entry_json.h"
#include "entry_maker.h"
#include "output_capture.h"
#include "record_bytes.h"
#include "tests/support/strict_json.h"
#include "temporary_folder.h"

using namespace telltale::diag;

namespace {

constexpr DbgCtl entry_dbg{"entry_test"};

// What an Entry says, kept.
struct Kept {
  explicit Kept(const Entry& e)
      : wall_ns(e.wall_ns), level(e.level), line(e.line), thread_id(e.thread_id), tag(e.tag), file(e.file),
        function(e.function), thread(e.thread), plugin(e.plugin), client(e.client), message(e.message), connection(e.connection),
        transaction(e.transaction), lost(e.lost) {
    for (const EntryField& f : e.fields) fields.push_back(std::string(f.name) + "=" + std::string(f.value));
  }
  std::int64_t wall_ns;
  Level level;
  std::uint32_t line, thread_id;
  std::string tag, file, function, thread, plugin, client, message;
  std::uint64_t connection, transaction, lost;
  std::vector<std::string> fields;
};

class Table : public EntrySink {
 public:
  bool write(const Entry& entry) noexcept override {
    std::lock_guard lock(mutex_);
    if (refusing_) return false;
    all_.emplace_back(entry);
    return true;
  }
  std::string reason() const override { return "the table is full"; }
  void refuse(bool it) {
    std::lock_guard lock(mutex_);
    refusing_ = it;
  }
  std::vector<Kept> take() {
    flush_output(kLongEnough);
    std::lock_guard lock(mutex_);
    return std::exchange(all_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<Kept> all_;
  bool refusing_ = false;
};

struct Dump {};

// All levels go to a Table.
class ToTable {
 public:
  ToTable() : table(std::make_shared<Table>()) {
    set_throttle({.interval = std::chrono::milliseconds{0}});
    OutputConfig config;
    config.routes.fill(kToExtra);
    set_extra_sink(table);
    REQUIRE(configure_output(config));
    settle_output(kLongEnough);  // from now on lines have their client
    table->take();
  }
  ~ToTable() {
    (void)configure_output({});
    set_extra_sink(nullptr);
    settle_output(kLongEnough);
  }
  std::shared_ptr<Table> table;
};

const SinkState& extra_sink(const OutputStatus& status) {
  for (const SinkState& sink : status.sinks) {
    if (sink.name == "extra sink") return sink;
  }
  FAIL("no state of the extra sink");
  return status.sinks[0];
}

}  // namespace

template <>
struct fmt::formatter<Dump> : fmt::formatter<std::string_view> {
  auto format(const Dump&, format_context& c) const { return fmt::format_to(c.out(), "A: \x01\nB: \"2\""); }
};
template <>
inline constexpr bool telltale::diag::is_lines<Dump> = true;

TEST_CASE("EntrySink: a record of several lines is one entry, as many whole lines of text, and one object", "[diag][entry]") {
  const CleanDebug debug;
  REQUIRE(set_base({.mode = Mode::kOn, .tags = "entry_test"}));
  std::string json;
  {
    ToTable to;
    Dbg(entry_dbg, "{}", Dump{}, field("why", "a\nb"));
    const std::vector<Kept> all = to.table->take();
    REQUIRE(all.size() == 1);
    CHECK(all[0].message == "A: \\x01\nB: \"2\"");
    CHECK(all[0].fields == std::vector<std::string>{"why=a\\nb"});
    Entry e;
    e.message = all[0].message;
    EntryJson().append(json, e);
  }
  CHECK(json.ends_with("\"text\":\"A: \\\\x01\\nB: \\\"2\\\"\"}\n"));
  Capture capture(ShowLocation::kNever);
  Dbg(entry_dbg, "{}", Dump{}, field("why", "a\nb"));
  const std::vector<std::string> lines = capture.lines();
  REQUIRE(lines.size() == 2);
  const std::size_t text = lines[0].find("A: ");
  CHECK(lines[0].substr(text) == "A: \\x01");
  CHECK(lines[1].substr(text) == "B: \"2\" why=a\\nb");
  CHECK(lines[0].substr(0, text) == lines[1].substr(0, text));
}

TEST_CASE("EntrySink: is given a debug line's parts, fields apart from the message", "[diag][entry]") {
  const CleanDebug debug;
  REQUIRE(set_base({.mode = Mode::kOn, .tags = "entry_test"}));
  ToTable to;
  Context context{.connection = 12, .transaction = 345, .plugin = plugin_number("noter")};
  Scope scope(&context);
  const unsigned here = __LINE__ + 1;
  Dbg(entry_dbg, "stored {}", "x\n", field("status", 200), field("why", "a\tb"), field("hit", true), field("age", 0.5));
  const std::vector<Kept> all = to.table->take();
  REQUIRE(all.size() == 1);
  const Kept& one = all[0];
  CHECK(one.message == "stored x\\n");
  CHECK(one.fields == std::vector<std::string>{"status=200", "why=a\\tb", "hit=true", "age=0.5"});
  CHECK(one.level == Level::kDebug);
  CHECK(one.tag == "entry_test");
  CHECK(one.file.ends_with("diag/entry_test.cc"));
  CHECK(one.line == here);
  CHECK(one.plugin == "noter");
  CHECK(one.connection == 12);
  CHECK(one.transaction == 345);
  CHECK(one.thread_id == static_cast<std::uint32_t>(::gettid()));
  CHECK(one.wall_ns > 1'700'000'000'000'000'000);
}

TEST_CASE("EntrySink: is told the client of a connection from its first line on, whichever thread writes it", "[diag][entry]") {
  const CleanDebug debug;
  REQUIRE(set_base({.mode = Mode::kOn, .tags = "entry_test"}));
  Client client;
  client.address = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 192, 0, 2, 1};
  Client other;
  other.address = {0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7};
  Context context{.connection = 12, .client = &client}, context_of_other{.connection = 13, .client = &other};
  auto say = [](const Context& of) {
    Scope scope(&of);
    Dbg(entry_dbg, "said");
  };
  for (int round = 0; round < 2; ++round) {  // a sink that comes later is told too
    ToTable to;
    say(context);
    std::thread([&] { say(context_of_other); }).join();
    say(context);
    Dbg(entry_dbg, "of nobody");
    const std::vector<Kept> all = to.table->take();
    REQUIRE(all.size() == 4);
    CHECK(all[0].client == "192.0.2.1");
    CHECK(all[1].client == "2001:db8::7");
    CHECK(all[2].client == "192.0.2.1");
    CHECK(all[3].client.empty());
  }
}

TEST_CASE("EntrySink: lines beside it are as they are without it", "[diag][entry]") {
  const CleanDebug debug;
  REQUIRE(set_base({.mode = Mode::kOn, .tags = "entry_test"}));
  ToTable to;
  note("kept as {}", 1);
  REQUIRE(to.table->take().at(0).message == "kept as 1");
  Capture lines;
  Dbg(entry_dbg, "stored {}", 1, field("status", 200));
  CHECK(lines.text().ends_with("stored 1 status=200\n"));
}

TEST_CASE("EntrySink: what it refuses is counted, and the next it takes says how many", "[diag][entry]") {
  ToTable to;
  to.table->refuse(true);
  for (int i = 0; i < 5; ++i) note("lost {}", i);
  flush_output(kLongEnough);
  settle_output(kLongEnough);
  CHECK(extra_sink(output_status()).lost >= 5);
  CHECK(extra_sink(output_status()).failing);
  CHECK(extra_sink(output_status()).last_error == "the table is full");
  to.table->refuse(false);
  // The backend leaves a sink that refuses alone for a moment, so it may be some lines later.
  std::vector<Kept> all;
  std::uint64_t sent = 5;
  while (all.empty()) {
    note("taken {}", sent++);
    all = to.table->take();
  }
  CHECK(all[0].lost == sent - 1);
  CHECK(all[0].message == std::to_string(sent - 1) + " lines lost here: extra sink: the table is full");
  REQUIRE(all.size() == 2);
  CHECK(all[1].message == "taken " + std::to_string(sent - 1));
}

TEST_CASE("EntryJson: every key, once, in the order that is documented", "[diag][entry]") {
  const EntryField fields[] = {{"status", "200", FieldKind::kNumber}, {"status", "x\"y", FieldKind::kText},
                               {"on", "true", FieldKind::kBool}};
  Entry e;
  e.wall_ns = 1'764'496'800'123'456'789;
  e.level = Level::kWarning;
  e.tag = "http";
  e.file = "http1/session.cc";
  e.line = 95;
  e.function = "run";
  e.module = "telltale";
  e.thread = "worker-0";
  e.thread_id = 4711;
  e.connection = 12;
  e.transaction = 345;
  e.plugin = "noter";
  e.client = "192.0.2.1";
  e.message = "a \\\\ \"b\"";
  e.fields = fields;
  e.lost = 3;
  std::string out;
  EntryJson().append(out, e);
  CHECK(out ==
        R"({"time":"2025-11-30T10:00:00.123456789Z","level":"WARNING","tag":"http","file":"http1/session.cc","line":95,)"
        R"("function":"run","module":"telltale","thread":"worker-0","tid":4711,"connection":12,"transaction":345,)"
        R"("plugin":"noter","client":"192.0.2.1","lost":3,"text":"a \\\\ \"b\"",)"
        R"("fields":{"status":200,"status#2":"x\"y","on":true}})"
        "\n");
  out.clear();
  EntryJson().append(out, Entry{});
  CHECK(out == "{\"time\":\"1970-01-01T00:00:00.000000000Z\",\"level\":\"DEBUG\",\"text\":\"\"}\n");
}

TEST_CASE("EntryJson: is strict JSON on one line whatever the bytes are", "[diag][entry]") {
  std::mt19937 random(20261130);
  auto bytes = [&random](std::size_t most) {
    std::string text(random() % (most + 1), '\0');
    // Half of them such that pieces of UTF-8 and of JSON come often.
    constexpr std::string_view kOften = "\"\\\n\r{}[]:,\0\x1b\xc3\xa4\xe2\x80\xa8\xf0\x9f\x98\x80\xed\xa0\x80\xff";
    const bool often = random() % 2 == 0;
    for (char& c : text) c = often ? kOften[random() % kOften.size()] : static_cast<char>(random());
    return text;
  };
  EntryMaker maker;
  EntryJson json;
  LineWriter lines;
  for (int i = 0; i < 20'000; ++i) {
    const std::string name = "f" + std::to_string(random() % 3);
    const std::string texts[] = {bytes(40), bytes(40), bytes(20), bytes(20), bytes(20)};
    RecordBytes record(texts[0], field(name.c_str(), texts[1]), field("f1", static_cast<char>(i)), field("f", i * 0.1),
                       field("big", std::numeric_limits<double>::max()), field("inf", std::numeric_limits<double>::infinity()));
    LineHead head;
    head.wall_ns = static_cast<std::int64_t>(random()) * 1'000'000'007 % 4'000'000'000'000'000'000;
    head.thread = texts[2];
    head.origin.tag = texts[3];
    head.origin.file = texts[4];
    head.client = texts[4];
    RecordReader arguments(record.data(), record.header());
    RecordReader for_text = arguments;
    std::string out;
    json.append(out, maker.make(head, lines.text("{}", for_text, false), 0, arguments));
    REQUIRE(out.find('\n') == out.size() - 1);
    INFO(out);
    REQUIRE(telltale::test::StrictJson(std::string_view(out).substr(0, out.size() - 1)).valid());
  }
}

TEST_CASE("Output: JSON lines go to their file, beside the text, and each line is an object", "[diag][entry][output]") {
  const TemporaryFolder folder;
  OutputConfig config;
  config.log_file = folder / "diags.log";
  config.json_file = folder / "diags.json";
  config.routes.fill(kToLogFile | kToJson);
  REQUIRE(configure_output(config));
  const std::uint64_t lost_before = output_status().lines_lost;
  for (int i = 0; i < 100; ++i) note("line {}", i);
  flush_output(kLongEnough);
  CHECK(output_status().lines_lost == lost_before);
  (void)configure_output({});
  settle_output(kLongEnough);
  std::ifstream json(config.json_file);
  int n = 0;
  for (std::string line; std::getline(json, line); ++n) {
    CHECK(telltale::test::StrictJson(line).valid());
    CHECK(line.ends_with("\"text\":\"line " + std::to_string(n) + "\"}"));
  }
  CHECK(n == 100);
  std::ifstream text(config.log_file);
  n = 0;
  for (std::string line; std::getline(text, line); ++n) {
    CHECK(line.ends_with("NOTE line " + std::to_string(n)));
  }
  CHECK(n == 100);
}

TEST_CASE("Output: JSON needs a file where a level leads to it, of its own", "[diag][entry][output]") {
  const TemporaryFolder folder;
  OutputConfig config;
  config.routes.fill(kToJson);
  CHECK(configure_output(config).error() == "lines are routed to the JSON lines, but there is no file for them");
  config.log_file = config.json_file = folder / "one";
  CHECK(configure_output(config).error() == "the JSON lines and another log are both " + config.json_file);
  config.log_file.clear();
  config.json_file = folder / "none/diags.json";
  CHECK(configure_output(config).error().find(config.json_file) != std::string::npos);
}

namespace {

void print(const char* format, ...) {
  std::va_list list;
  va_start(list, format);
  write_printf({Level::kDebug, "entry_test", "file.cc", "f", 1, format}, list);
  va_end(list);
}

}  // namespace

TEST_CASE("EntrySink: all bytes are the same printable text from core, printf and level lines, in a line and in an entry", "[diag][entry][B57]") {
  const CleanDebug debug;
  REQUIRE(set_base({.mode = Mode::kOn, .tags = "entry_test"}));
  std::string bytes;
  for (int c = 1; c < 256; ++c) bytes += static_cast<char>(c);
  auto say = [&] {
    Dbg(entry_dbg, "{}", bytes);
    print("%s", bytes.c_str());
    note("{}", bytes);
  };
  std::vector<Kept> all;
  {
    ToTable to;
    say();
    all = to.table->take();
  }
  REQUIRE(all.size() == 3);
  Capture capture(ShowLocation::kNever);
  say();
  const std::vector<std::string> lines = capture.lines();
  REQUIRE(lines.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(all[i].message == all[0].message);
    CHECK(lines[i].ends_with(" " + all[0].message));
    for (char c : all[i].message) REQUIRE((c >= 0x20 && c < 0x7F));
  }
  CHECK(all[0].message.find("\\x01\\x02") == 0);
  CHECK(all[0].message.find("\\xfe\\xff") != std::string::npos);
}
