// SPDX-License-Identifier: Apache-2.0
#include "config/reload.h"

#include <catch2/catch.hpp>

using namespace telltale::config;

namespace {

RecordsFile file_with(const std::string& settings) {
  return parse_records_file("records:\n" + settings, "records.yaml").value();
}

Records started(const RecordsFile& file) { return apply(file, Records::defaults()).value(); }

constexpr Record kTimeout = Record::kHttpConnectAttemptsTimeout;

}  // namespace

TEST_CASE("reload: a record whose text changed in the file is applied and named", "[config][reload]") {
  const RecordsFile before = file_with("  http.connect_attempts_timeout: 5\n");
  const RecordsFile after = file_with("  http.connect_attempts_timeout: 6\n  diags.show_location: 2\n");
  const auto result = reload(before, started(before), after);
  REQUIRE(result);
  CHECK(result->running.integer(kTimeout) == 6);
  CHECK(result->running.integer(Record::kDiagsShowLocation) == 2);
  CHECK(to_string(result->running.source(Record::kDiagsShowLocation)) == "records.yaml:3");
  CHECK(result->changed == std::vector<Record>{kTimeout, Record::kDiagsShowLocation});
  CHECK(result->needs_restart.empty());
}

TEST_CASE("reload: what was set at run time stays while the file says the same", "[config][reload]") {
  const RecordsFile before = file_with("  http.connect_attempts_timeout: 5\n");
  const Records running = started(before)
                              .with(kTimeout, "9", Source::runtime())
                              .value()
                              .with(Record::kDiagsDebugEnabled, "1", Source::runtime())
                              .value();
  const RecordsFile after = file_with("  diags.show_location: 2\n  http.connect_attempts_timeout: 5\n");
  const auto result = reload(before, running, after);
  REQUIRE(result);
  CHECK(result->running.integer(kTimeout) == 9);
  CHECK(result->running.integer(Record::kDiagsDebugEnabled) == 1);
  CHECK(to_string(result->running.source(kTimeout)) == "runtime");
  CHECK(result->changed == std::vector<Record>{Record::kDiagsShowLocation});
}

TEST_CASE("reload: a changed text in the file wins over run time and command line", "[config][reload]") {
  const RecordsFile before = file_with("  http.connect_attempts_timeout: 5\n");
  const RecordsFile after = file_with("  http.connect_attempts_timeout: 6\n");
  for (const Source& source : {Source::runtime(), Source::command_line()}) {
    const auto result = reload(before, started(before).with(kTimeout, "9", source).value(), after);
    REQUIRE(result);
    CHECK(result->running.integer(kTimeout) == 6);
    CHECK(to_string(result->running.source(kTimeout)) == "records.yaml:2");
    CHECK(result->changed == std::vector<Record>{kTimeout});
  }
}

TEST_CASE("reload: a record that is gone from the file goes back to its default", "[config][reload]") {
  const RecordsFile before = file_with("  http.connect_attempts_timeout: 5\n");
  const auto result = reload(before, started(before), file_with(""));
  REQUIRE(result);
  CHECK(result->running.integer(kTimeout) == 30);
  CHECK(to_string(result->running.source(kTimeout)) == "default");
  CHECK(result->changed == std::vector<Record>{kTimeout});
}

TEST_CASE("reload: the same file changes nothing, and a moved line moves only the source",
          "[config][reload]") {
  const RecordsFile before = file_with("  http.connect_attempts_timeout: 5\n");
  const auto same = reload(before, started(before), before);
  REQUIRE(same);
  CHECK(same->changed.empty());
  const auto moved =
      reload(before, started(before), file_with("  # a line\n  http.connect_attempts_timeout: 5\n"));
  REQUIRE(moved);
  CHECK(moved->changed.empty());
  CHECK(to_string(moved->running.source(kTimeout)) == "records.yaml:3");
}

TEST_CASE("reload: a text that now says what is already running changes the source only",
          "[config][reload]") {
  const RecordsFile before = file_with("");
  const Records running = started(before).with(kTimeout, "9", Source::runtime()).value();
  const auto result = reload(before, running, file_with("  http.connect_attempts_timeout: 9\n"));
  REQUIRE(result);
  CHECK(result->changed.empty());
  CHECK(to_string(result->running.source(kTimeout)) == "records.yaml:2");
}

TEST_CASE("reload: what needs a restart keeps the value in force and is named until it is settled",
          "[config][reload]") {
  const RecordsFile first = file_with("  exec_thread.limit: 2\n");
  const RecordsFile second = file_with("  exec_thread.limit: 4\n");
  const auto changed = reload(first, started(first), second);
  REQUIRE(changed);
  CHECK(changed->running.integer(Record::kExecThreadLimit) == 2);
  CHECK(changed->changed.empty());
  CHECK(changed->needs_restart == std::vector<Record>{Record::kExecThreadLimit});

  const auto again = reload(second, changed->running, second);
  REQUIRE(again);
  CHECK(again->needs_restart == std::vector<Record>{Record::kExecThreadLimit});

  const auto back = reload(second, again->running, first);
  REQUIRE(back);
  CHECK(back->needs_restart.empty());
  CHECK(back->running.integer(Record::kExecThreadLimit) == 2);
}

TEST_CASE("reload: what the command line decides is not said to need a restart", "[config][reload]") {
  const RecordsFile before = file_with("  exec_thread.limit: 2\n");
  const Records running = started(before).with(Record::kExecThreadLimit, "3", Source::command_line()).value();
  const auto result = reload(before, running, file_with("  exec_thread.limit: 4\n"));
  REQUIRE(result);
  CHECK(result->needs_restart.empty());
  CHECK(result->running.integer(Record::kExecThreadLimit) == 3);
}

TEST_CASE("reload: a value that the running check refuses leaves all as it was", "[config][reload]") {
  const Records running =
      Records::defaults(TagPatternCheck([](std::string_view) { return std::optional<std::string>("is refused"); }));
  const auto result =
      reload(file_with(""), running, file_with("  diags.debug.tags: x\n  diags.show_location: 2\n"));
  REQUIRE_FALSE(result);
  REQUIRE(result.error().size() == 1);
  CHECK(to_string(result.error()[0])
            .starts_with("records.yaml:2:21: proxy.config.diags.debug.tags: is refused"));
}
