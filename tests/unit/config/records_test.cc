// SPDX-License-Identifier: Apache-2.0
#include "config/records.h"

#include <catch2/catch.hpp>

using namespace telltale::config;

TEST_CASE("Records: every record is at its default to begin with", "[config][records]") {
  const Records records = Records::defaults();
  for (const RecordInfo& record : record_table()) {
    INFO(record.name);
    CHECK(records.string(record.id) == record.default_text);
    CHECK(to_string(records.source(record.id)) == "default");
    if (record.kind == Kind::kInteger)
      CHECK(std::to_string(records.integer(record.id)) == record.default_text);
  }
}

TEST_CASE("Records: a change makes another set and leaves the old one as it was", "[config][records]") {
  const Records old = Records::defaults();
  const auto changed = old.with(Record::kHttpConnectAttemptsTimeout, "7", Source::runtime());
  REQUIRE(changed);
  CHECK(changed->integer(Record::kHttpConnectAttemptsTimeout) == 7);
  CHECK(to_string(changed->source(Record::kHttpConnectAttemptsTimeout)) == "runtime");
  CHECK(changed->string(Record::kDiagsDebugTags) == "http|dns");
  CHECK(old.integer(Record::kHttpConnectAttemptsTimeout) == 30);
  CHECK(changed->with_default(Record::kHttpConnectAttemptsTimeout)
            .integer(Record::kHttpConnectAttemptsTimeout) == 30);
}

TEST_CASE("Records: a refused value carries the place it came from", "[config][records]") {
  const Records records = Records::defaults();
  const auto text = [&](Source source) {
    return to_string(records.with(Record::kHttpCacheHttp, "2", std::move(source)).error());
  };
  const std::string what = "proxy.config.http.cache.http: \"2\" is out of range; expected 0 or 1";
  CHECK(text(Source::from_file("records.yaml", 4, 9)) == "records.yaml:4:9: " + what);
  CHECK(text(Source::command_line()) == "--set: " + what);
  CHECK(text(Source::tags_option()) == "-T: " + what);
  CHECK(text(Source::runtime()) == "runtime: " + what);
  CHECK(to_string(records.validate(Record::kHttpCacheHttp, "2").error()) == what);
  CHECK(records.validate(Record::kHttpCacheHttp, "1"));
}

TEST_CASE("Records: what needs a restart cannot be set at run time, since it would not be in force",
          "[config][records]") {
  const Records records = Records::defaults();
  const auto refused = records.with(Record::kExecThreadLimit, "2", Source::runtime());
  REQUIRE_FALSE(refused);
  CHECK(refused.error().what == "proxy.config.exec_thread.limit: a change takes effect only after a restart");
  CHECK(records.with(Record::kExecThreadLimit, "2", Source::command_line()));
  // A value that is wrong anyway is told first.
  CHECK(records.with(Record::kExecThreadLimit, "x", Source::runtime())
            .error()
            .what.ends_with("is not an integer"));
}

TEST_CASE("Records: the check of tag patterns stays with every set", "[config][records]") {
  int asked = 0;
  const Records records = Records::defaults(TagPatternCheck([&](std::string_view text) -> std::optional<std::string> {
    ++asked;
    if (text == "bad") return "is bad";
    return std::nullopt;
  }));
  const auto changed = records.with(Record::kDiagsDebugTags, "cache", Source::runtime());
  REQUIRE(changed);
  CHECK(changed->string(Record::kDiagsDebugTags) == "cache");
  CHECK(changed->with(Record::kDiagsDebugTags, "bad", Source::runtime()).error().what ==
        "proxy.config.diags.debug.tags: is bad");
  CHECK(asked == 2);
}
