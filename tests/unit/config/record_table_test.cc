// SPDX-License-Identifier: Apache-2.0
#include "config/record_table.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "config/default_file.h"
#include "config/records_file.h"
#include "config/reference.h"
#include "config/validate.h"

using namespace telltale::config;

TEST_CASE("Record table: every entry stands at its id, has a name of its own and is found by it",
          "[config][records]") {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kRecordCount; ++i) {
    const RecordInfo& record = record_table()[i];
    INFO(record.name);
    CHECK(static_cast<std::size_t>(record.id) == i);
    CHECK(record.name.starts_with("proxy.config."));
    CHECK(names.insert(record.name).second);
    CHECK(find_record(record.name) == record.id);
    CHECK(&info(record.id) == &record);
    CHECK_FALSE(is_section(record.name));
  }
}

TEST_CASE("Record table: every default is valid and every description is one sentence", "[config][records]") {
  for (const RecordInfo& record : record_table()) {
    INFO(record.name);
    CHECK(validate(record.id, record.default_text));
    CHECK(record.description.ends_with('.'));
    CHECK(record.description.find(". ") == std::string_view::npos);
    CHECK_FALSE(expectation(record.id).empty());
  }
}

TEST_CASE("Record table: sections are the beginnings of names", "[config][records]") {
  CHECK(is_section("proxy"));
  CHECK(is_section("proxy.config.diags.debug"));
  CHECK_FALSE(is_section("proxy.config.diags.deb"));
  CHECK_FALSE(is_section("proxy.config.nothing"));
}

TEST_CASE("Record table: a record of Traffic Server that is not offered is refused by name",
          "[config][records]") {
  const Problem problem = not_offered("proxy.config.http.server_max_connections");
  CHECK(problem.what == "proxy.config.http.server_max_connections: this record is not offered by Telltale");
  CHECK(problem.expected.empty());
}

TEST_CASE("Record table: a name that is nearly right is answered with the right one", "[config][records]") {
  const auto nearest = [](std::string_view name) {
    const auto names = nearest_names(name);
    return names.empty() ? std::string() : names[0];
  };
  CHECK(nearest("proxy.config.http.server_port") == "proxy.config.http.server_ports");
  CHECK(nearest("proxy.config.diags.debug.tag") == "proxy.config.diags.debug.tags");
  CHECK(nearest("proxy.config.diag.debug.client_ip") == "proxy.config.diags.debug.client_ip");
  CHECK(nearest("http.server_ports") == "proxy.config.http.server_ports");
  CHECK(nearest("proxy.config.diags.client_ip") == "proxy.config.diags.debug.client_ip");
  CHECK(nearest("proxy.config.ssl.server.cert.path") == "");
  CHECK(nearest(std::string(100000, 'x')) == "");
  CHECK(nearest_names("proxy.config.diags.output.x").size() <= 3);
  CHECK(to_string(not_offered("proxy.config.http.server_port"))
            .ends_with("; did you mean proxy.config.http.server_ports?"));
}

TEST_CASE("Record table: what is no record name is told so, and cannot forge a line", "[config][records]") {
  CHECK(to_string(not_offered("hello")) ==
        "hello: not a record name; expected a name that starts with proxy.config.");
  CHECK(not_offered("proxy.config.a\nb").what ==
        "\"proxy.config.a\\x0ab\": this record is not offered by Telltale");
  CHECK(not_offered("").what == "\"\": not a record name");
}

TEST_CASE("configs/default: records.yaml is what the table says", "[config][default]") {
  std::ifstream file(CONFIGS_DEFAULT "/records.yaml");
  std::stringstream text;
  text << file.rdbuf();
  CHECK(text.str() == default_records_yaml());
}

TEST_CASE("configs/default: records.yaml names every record at its default", "[config][default]") {
  const auto file = parse_records_file(default_records_yaml(), "records.yaml");
  REQUIRE(file);
  for (const RecordInfo& record : record_table()) {
    INFO(record.name);
    REQUIRE((*file)[record.id]);
    CHECK((*file)[record.id]->text == record.default_text);
  }
}

TEST_CASE("docs/config_reference.md: what follows the mark is what the table says", "[config][reference]") {
  std::ifstream file(DOCS "/config_reference.md");
  std::stringstream text;
  text << file.rdbuf();
  const std::size_t mark = text.str().find(kGeneratedMark);
  REQUIRE(mark != std::string::npos);
  CHECK(text.str().substr(mark + kGeneratedMark.size()) == record_reference());
}

TEST_CASE("Reference: every record has type, range and a heading of its own", "[config][reference]") {
  const std::string page = record_reference();
  for (const RecordInfo& record : record_table()) {
    INFO(record.name);
    CHECK_FALSE(type_words(record.kind).empty());
    CHECK_FALSE(range_words(record.id).empty());
    const std::string heading = "\n### `" + std::string(record.name) + "`\n\n" + std::string(record.description) + "\n";
    const std::size_t found = page.find(heading);
    REQUIRE(found != std::string::npos);
    CHECK(page.find(heading, found + 1) == std::string::npos);
  }
  CHECK(range_words(Record::kDiagRingSize) == "a power of two from 65536 to 16777216");
  CHECK(range_words(Record::kHttpCacheHttp) == "0 or 1");
  CHECK(range_words(Record::kHttpConnectAttemptsTimeout) == "1 to 3600");
}

// Not run by default: after a change of the table, ./tt docs runs `unit_config "[.write]"`.
TEST_CASE("configs/default: records.yaml can be written", "[.write]") {
  std::ofstream file(CONFIGS_DEFAULT "/records.yaml", std::ios::trunc);
  file << default_records_yaml();
  REQUIRE(file.flush());
}

TEST_CASE("docs/config_reference.md: what follows the mark can be written", "[.write]") {
  std::stringstream text;
  text << std::ifstream(DOCS "/config_reference.md").rdbuf();
  const std::size_t mark = text.str().find(kGeneratedMark);
  REQUIRE(mark != std::string::npos);
  std::ofstream file(DOCS "/config_reference.md", std::ios::trunc);
  file << text.str().substr(0, mark) << kGeneratedMark << record_reference();
  REQUIRE(file.flush());
}
