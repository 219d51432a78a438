// SPDX-License-Identifier: Apache-2.0
// Entries: what a sink that takes records by their parts is given, and the JSON made of it.
#include <telltale/diag/entry.h>

#include <catch2/catch.hpp>

#include <condition_variable>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <unistd.h>

#include <telltale/diag/dbg.h>
#include <telltale/diag/debug_control.h>
#include <telltale/diag/level.h>
#include <telltale/diag/output.h>
#include <telltale/diag/scope.h>
#include <telltale/diag/throttle.h>

#include "debug_state.h"
#include "entry_json.h"
#include "output_capture.h"

using namespace telltale::diag;

namespace {

constexpr DbgCtl entry_dbg{"entry_test"};

// What an Entry says, kept.
struct Kept {
  explicit Kept(const Entry& e)
      : wall_ns(e.wall_ns), level(e.level), line(e.line), thread_id(e.thread_id), tag(e.tag), file(e.file),
        function(e.function), thread(e.thread), plugin(e.plugin), message(e.message), connection(e.connection),
        transaction(e.transaction), lost(e.lost) {
    for (const EntryField& f : e.fields) fields.push_back(std::string(f.name) + "=" + std::string(f.value));
  }
  std::int64_t wall_ns;
  Level level;
  std::uint32_t line, thread_id;
  std::string tag, file, function, thread, plugin, message;
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
