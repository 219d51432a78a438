// SPDX-License-Identifier: Apache-2.0
#include "config/agreement.h"

#include <catch2/catch.hpp>

using namespace telltale::config;

namespace {

Records with(std::initializer_list<std::pair<Record, const char*>> values, Source source = Source::runtime()) {
  Records records = Records::defaults();
  for (const auto& [record, value] : values) records = records.with(record, value, source).value();
  return records;
}

constexpr Record kRolls = Record::kDiagsLogfileRollingEnabled, kSize = Record::kDiagsLogfileRollingSizeMb,
                 kSpace = Record::kDiagLogfileMaxSpaceMb;

}  // namespace

TEST_CASE("agreement: the defaults agree", "[config]") { CHECK(check_agreement(Records::defaults()).empty()); }

TEST_CASE("agreement: diags.log may not become larger than all of its files together", "[config]") {
  CHECK(check_agreement(with({{kSize, "7"}, {kSpace, "7"}})).empty());
  CHECK(check_agreement(with({{kSize, "7"}, {kSpace, "0"}})).empty());
  CHECK(check_agreement(with({{kSize, "7"}, {kSpace, "6"}, {kRolls, "1"}})).empty());
  CHECK(check_agreement(with({{kSize, "7"}, {kSpace, "6"}, {kRolls, "0"}})).empty());
  for (const char* rolls : {"2", "3"}) {
    Problems problems = check_agreement(with({{kSize, "7"}, {kSpace, "6"}, {kRolls, rolls}}, Source::from_file("records.yaml", 4, 9)));
    REQUIRE(problems.size() == 1);
    CHECK(to_string(problems[0]) ==
          "records.yaml:4:9: proxy.config.diags.logfile.rolling_size_mb: \"7\" is more than all files of diags.log may take, "
          "proxy.config.telltale.diag.logfile.max_space_mb \"6\"; expected the limit of space to be 0 or the larger one");
  }
  CHECK(to_string(check_agreement(with({{kSpace, "6"}}, Source::command_line()))[0]).starts_with("--set: proxy.config.diags"));
  CHECK(to_string(check_agreement(with({{kSpace, "6"}}))[0]).starts_with("proxy.config.diags"));
}
