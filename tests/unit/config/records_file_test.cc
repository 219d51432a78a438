// SPDX-License-Identifier: Apache-2.0
#include "config/records_file.h"

#include <catch2/catch.hpp>

#include <random>
#include <string>
#include <vector>

#include "config/default_file.h"

using namespace telltale::config;

namespace {

// The problems as printed, without the file's name.
std::vector<std::string> problems_of(const std::string& text, const TagPatternCheck& check = {}) {
  const auto file = parse_records_file(text, "f", check);
  std::vector<std::string> lines;
  if (!file) {
    for (const Problem& problem : file.error())
      lines.push_back(to_string(problem).substr(2));
  }
  return lines;
}

RecordsFile parsed(const std::string& text) {
  auto file = parse_records_file(text, "records.yaml");
  if (!file) FAIL(to_string(file.error().front()));
  return std::move(*file);
}

// What the file says of a record in a one-record file, or the first problem.
std::string said(const std::string& dotted, const std::string& value) {
  const auto file = parse_records_file("records:\n  " + dotted + ": " + value + "\n", "f");
  if (!file) return to_string(file.error().front());
  const auto& v = (*file)[*find_record("proxy.config." + dotted)];
  return v ? v->text : "nothing";
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("records.yaml: names are nested, dotted, or both, with or without proxy.config",
          "[config][records_file]") {
  const RecordsFile file = parsed(
      "records:\n"
      "  exec_thread: {autoconfig: {enabled: 0}, limit: 3}\n"
      "  http.connect_attempts_timeout: 4\n"
      "  http:\n"
      "    cache.http: 0\n"
      "  proxy.config.diags.show_location: 2\n"
      "  proxy:\n"
      "    config:\n"
      "      diags.debug.tags: cache\n");
  CHECK(file[Record::kExecThreadAutoconfigEnabled]->text == "0");
  CHECK(file[Record::kExecThreadLimit]->text == "3");
  CHECK(file[Record::kHttpConnectAttemptsTimeout]->text == "4");
  CHECK(file[Record::kHttpConnectAttemptsTimeout]->line == 3);
  CHECK(file[Record::kHttpConnectAttemptsTimeout]->column == 34);
  CHECK(file[Record::kHttpCacheHttp]->text == "0");
  CHECK(file[Record::kDiagsShowLocation]->text == "2");
  CHECK(file[Record::kDiagsDebugTags]->text == "cache");
  CHECK_FALSE(file[Record::kHttpServerPorts]);

  const auto records = apply(file, Records::defaults());
  REQUIRE(records);
  CHECK(records->integer(Record::kExecThreadLimit) == 3);
  CHECK(to_string(records->source(Record::kExecThreadLimit)) == "records.yaml:2");
  CHECK(to_string(records->source(Record::kHttpServerPorts)) == "default");
}

TEST_CASE("records.yaml: an empty file, or a section whose records are commented out, sets nothing",
          "[config][records_file]") {
  for (const char* text : {"", "\n", "# nothing\n", "---\n", "records:\n", "records: {}\n",
                           "records:\n  diags:\n    debug:\n    # enabled: 1\n", "records:\n  http: {}\n",
                           "---\nrecords:\n...\n"}) {
    INFO(text);
    CHECK(problems_of(text) == Lines{});
  }
}

TEST_CASE("records.yaml: CR LF line ends are line ends", "[config][records_file]") {
  const RecordsFile file = parsed("records:\r\n  http:\r\n    cache.http: 0\r\n");
  CHECK(file[Record::kHttpCacheHttp]->text == "0");
  CHECK(file[Record::kHttpCacheHttp]->line == 3);
  CHECK(problems_of("records:\n  diags.debug.tags: a\rb\n").front() ==
        "2:22: byte 0x0D does not belong in a text file; expected UTF-8 text without control characters");
}

TEST_CASE("records.yaml: three errors on three lines are three messages", "[config][records_file][B97]") {
  CHECK(problems_of("records:\n"
                    "  diags:\n"
                    "    debug:\n"
                    "\tenabled: 1\n"
                    "      tags: http\n"
                    "    no_such: 1\n"
                    "  http:\n"
                    "    connect_attempts_timeout: abc\n") ==
        Lines{"4:1: a tab in the indentation; expected spaces",
              "6:14: proxy.config.diags.no_such: this record is not offered by Telltale",
              "8:31: proxy.config.http.connect_attempts_timeout: \"abc\" is not an integer; expected "
              "seconds, 1 to 3600"});
}

TEST_CASE("records.yaml: a file indented with tabs gets one message a line and no false ones",
          "[config][records_file][B97]") {
  CHECK(problems_of("records:\n"
                    "\tdiags:\n"
                    "\t\tdebug:\n"
                    "\t\t\tenabled: 7\n"
                    "\thttp:\n"
                    "  \t cache.http: 0\n") ==
        Lines{"2:1: a tab in the indentation; expected spaces",
              "3:1: a tab in the indentation; expected spaces",
              "4:1: a tab in the indentation; expected spaces",
              "4:13: proxy.config.diags.debug.enabled: \"7\" is out of range; expected 0 to 3",
              "5:1: a tab in the indentation; expected spaces",
              "6:3: a tab in the indentation; expected spaces"});
}

TEST_CASE("records.yaml: tabs elsewhere are no matter", "[config][records_file][B97]") {
  CHECK(problems_of("records:\n\t\n\t# a comment\n  http:\t\n    cache.http:\t0\t# off\n") == Lines{});
}

TEST_CASE("records.yaml: what follows a line that cannot be read is still looked at",
          "[config][records_file][B97]") {
  const Lines lines = problems_of(
      "records:\n"
      "  http:\n"
      "    cache.http: 5\n"
      "    server_ports: @8080\n"
      "    connect_attempts_timeout: 0\n"
      "  diags.show_location: %3\n"
      "  exec_thread.limit: 0\n");
  REQUIRE(lines.size() == 5);
  CHECK(lines[0].starts_with("3:17: proxy.config.http.cache.http: \"5\" is out of range"));
  CHECK(lines[1].starts_with("4:19: YAML: "));
  CHECK(lines[2].starts_with("5:31: proxy.config.http.connect_attempts_timeout: \"0\" is out of range"));
  CHECK(lines[3].starts_with("6:24: YAML: "));
  CHECK(lines[4].starts_with("7:22: proxy.config.exec_thread.limit: \"0\" is out of range"));
}

TEST_CASE("records.yaml: a quote that is not closed swallows nothing", "[config][records_file][B97]") {
  for (const char* open : {"\"http", "'http", "\"http\\\"", "'http''", "\"", "'"}) {
    INFO(open);
    const std::string text = std::string("records:\n  http.cache.http: 5\n  diags.debug.tags: ") + open +
                             "\n  diags.show_location: 9\n  exec_thread.limit: 0\n";
    CHECK(problems_of(text) ==
          Lines{"2:20: proxy.config.http.cache.http: \"5\" is out of range; expected 0 or 1",
                "3:21: a quote that is not closed on its line",
                "4:24: proxy.config.diags.show_location: \"9\" is out of range; expected 0 to 2",
                "5:22: proxy.config.exec_thread.limit: \"0\" is out of range; expected workers, 1 to 256"});
  }
  CHECK(problems_of("records: {diags.debug.tags: \"http").front() ==
        "1:29: a quote that is not closed on its line");
  CHECK(problems_of("records: {\"\xc3\xa9\": 1, 'diags.debug.tags': 'ht").front() ==
        "1:40: a quote that is not closed on its line");
  CHECK(said("diags.debug.tags", "\"a\\\"b\"") == "a\"b");
  CHECK(said("diags.debug.tags", "'a''b'") == "a'b");
  CHECK(said("diags.debug.tags", "''''") == "'");
  CHECK(said("diags.debug.tags", "a'b\"c") == "a'b\"c");
}

TEST_CASE("records.yaml: a second document is refused, not ignored", "[config][records_file][B97]") {
  const Lines lines =
      problems_of("records:\n  http.cache.http: 5\n---\nrecords:\n  nonsense: 1\n---\nrecords: {}\n");
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].starts_with("2:20: proxy.config.http.cache.http: \"5\" is out of range"));
  CHECK(lines[1] == "3:1: a second document; expected one document");
  CHECK(problems_of("---\nrecords: {}\n---\nrecords: {}\n").size() == 1);
  CHECK(problems_of("records: {}\n...\nrecords: {}\n").size() == 1);
}

TEST_CASE("records.yaml: what looks like another type is the text of a text record",
          "[config][records_file][B101]") {
  for (const char* text :
       {"no", "on", "yes", "1e3", "0123", "0o17", "2026-01-01", "true", "12:30:45", "0x1F", ".inf", "-1"}) {
    CHECK(said("diags.debug.tags", text) == text);
  }
  CHECK(said("diags.debug.tags", "\"yes\"") == "yes");
  CHECK(said("diags.debug.tags", "'~'") == "~");
  CHECK(said("diags.debug.tags", "\"null\"") == "null");
  CHECK(said("diags.debug.client_ip", "\"\"") == "");
}

TEST_CASE("records.yaml: a record without a value is a mistake", "[config][records_file][B101]") {
  for (const char* text : {"~", "null", "Null", "NULL", ""}) {
    INFO(text);
    CHECK(said("diags.debug.tags", text).find("proxy.config.diags.debug.tags: no value; expected ") !=
          std::string::npos);
    CHECK(said("http.cache.http", text).ends_with("proxy.config.http.cache.http: no value; expected 0 or 1"));
  }
}

TEST_CASE("records.yaml: a list or a mapping is no value", "[config][records_file][B101]") {
  CHECK(said("diags.debug.tags", "[a]") ==
        "f:2:21: proxy.config.diags.debug.tags: a list; expected a pattern for the start of tags, such as "
        "http|dns");
  CHECK(said("diags.debug.tags", "{a: b}") ==
        "f:2:21: proxy.config.diags.debug.tags: a mapping; expected a pattern for the start of tags, such as "
        "http|dns");
  CHECK(said("http.cache.http", "[0]") == "f:2:20: proxy.config.http.cache.http: a list; expected 0 or 1");
  CHECK(problems_of("records: {http: {cache: {http: {a: {b: [c]}, d: e}}}}").size() == 1);
  CHECK(problems_of("records: {http: {cache: {http: {}}}}").size() == 1);
}

TEST_CASE("records.yaml: numbers are plain decimal, quoted or not", "[config][records_file][B101]") {
  CHECK(said("cache.ram_cache.size", "10") == "10");
  CHECK(said("cache.ram_cache.size", "\"10\"") == "10");
  CHECK(said("cache.ram_cache.size", "'10'") == "10");
  for (const char* text :
       {"010", "1_000", "10M", "1.5", "\" 10\"", "1e3", "0x10", "yes", "+1", "\"10\\n\""}) {
    INFO(text);
    CHECK(said("cache.ram_cache.size", text).starts_with("f:2:25: proxy.config.cache.ram_cache.size: "));
  }
}

TEST_CASE("records.yaml: the same key twice is an error that names both lines",
          "[config][records_file][B101]") {
  CHECK(problems_of("records:\n  diags:\n    debug:\n      enabled: 0\n      enabled: 1\n") ==
        Lines{"5:7: the key \"enabled\" is already on line 4; expected each key once"});
  CHECK(problems_of("records:\n  http: {cache.http: 1}\n  http: {cache.http: 0}\n") ==
        Lines{"3:3: the key \"http\" is already on line 2; expected each key once"});
  CHECK(problems_of("records: {}\nrecords: {}\n") ==
        Lines{"2:1: the key \"records\" is already on line 1; expected each key once"});
}

TEST_CASE("records.yaml: the same record by two spellings is an error that names both lines",
          "[config][records_file][B101]") {
  CHECK(problems_of("records:\n  http:\n    cache.http: 1\n  http.cache.http: 1\n  "
                    "proxy.config.http.cache.http: 1\n") ==
        Lines{"4:20: proxy.config.http.cache.http: already set on line 3; expected each record once",
              "5:33: proxy.config.http.cache.http: already set on line 3; expected each record once"});
}

TEST_CASE("records.yaml: anchors, aliases, tags, directives and keys that are no names are refused",
          "[config][records_file]") {
  CHECK(problems_of("records:\n  http: &a {cache.http: 1}\n") ==
        Lines{"2:9: an anchor; expected plain settings"});
  CHECK(problems_of("records:\n  http.cache.http: !!int 1\n") ==
        Lines{"2:20: a YAML tag; expected plain settings"});
  CHECK(problems_of("%YAML 1.2\n---\nrecords: {}\n") ==
        Lines{"1:1: a YAML directive; expected plain settings"});
  CHECK(problems_of("records: {}\n%FOO\n") == Lines{"2:1: a YAML directive; expected plain settings"});
  CHECK(problems_of("records:\n  ? [a]\n  : 1\n") ==
        Lines{"2:5: a key that is no name; expected a record's name or a part of it"});
  CHECK(problems_of("records:\n  ~: 1\n") ==
        Lines{"2:3: a key that is no name; expected a record's name or a part of it"});
  const Lines alias = problems_of("records:\n  http: &a {cache.http: 1}\n  diags: *a\n");
  REQUIRE(alias.size() == 2);
  CHECK(alias[1] == "3:10: an alias; expected plain settings");
}

TEST_CASE("records.yaml: all stands below records", "[config][records_file]") {
  CHECK(problems_of("http: {cache: {http: 1}}\nproxy.config.http.cache.http: 1\n") ==
        Lines{"1:7: the top key \"http\"; expected records: at the top and all else below it",
              "2:31: the top key \"proxy.config.http.cache.http\"; expected records: at the top and all else "
              "below it"});
  CHECK(problems_of("hello\n") == Lines{"1:1: the file is no mapping; expected records: at the top"});
  CHECK(problems_of("- a\n- b\n") == Lines{"1:1: the file is no mapping; expected records: at the top"});
  CHECK(problems_of("records: 5\n") == Lines{"1:10: records: is no mapping; expected records below it"});
  CHECK(problems_of("records: [a]\n") == Lines{"1:10: records: is no mapping; expected records below it"});
}

TEST_CASE("records.yaml: a section takes no value", "[config][records_file]") {
  CHECK(problems_of("records:\n  http: 5\n") ==
        Lines{"2:9: proxy.config.http: a section, it takes no value; expected records below it"});
  CHECK(problems_of("records:\n  http: [a]\n") ==
        Lines{"2:9: proxy.config.http: a section, it takes no value; expected records below it"});
}

TEST_CASE("records.yaml: unknown records are refused one by one, with what is near",
          "[config][records_file]") {
  CHECK(
      problems_of(
          "records:\n  ssl:\n    server: {cipher_suite: x}\n  http:\n    server_port: 80\n  nothing: {}\n") ==
      Lines{"3:28: proxy.config.ssl.server.cipher_suite: this record is not offered by Telltale",
            "5:18: proxy.config.http.server_port: this record is not offered by Telltale; did you mean "
            "proxy.config.http.server_ports?",
            "6:12: proxy.config.nothing: this record is not offered by Telltale"});
}

TEST_CASE("records.yaml: an unknown record's value is not repeated", "[config][records_file]") {
  for (const std::string& line : problems_of(
           "records:\n  ssl: {key: S3CR3T}\n  http: {proxy_auth: [S3CR3T]}\nS3CR3T_top: {a: S3CR3T}\n"))
    CHECK(line.find("S3CR3T\"") == std::string::npos);
}

TEST_CASE("records.yaml: bytes that are no UTF-8 are refused with their place", "[config][records_file]") {
  CHECK(
      problems_of("records:\n  diags.debug.tags: \xff\xfe\n  http.cache.http: 2\n") ==
      Lines{"2:21: byte 0xFF does not belong in a text file; expected UTF-8 text without control characters",
            "3:20: proxy.config.http.cache.http: \"2\" is out of range; expected 0 or 1"});
  CHECK(
      problems_of(std::string("records: {} #\0\n", 15)) ==
      Lines{
          "1:14: byte 0x00 does not belong in a text file; expected UTF-8 text without control characters"});
  CHECK(problems_of("# \xc3\xa9\nrecords: {}\n") == Lines{});
}

TEST_CASE("records.yaml: a tag pattern is checked by the function handed in", "[config][records_file]") {
  const TagPatternCheck check = [](std::string_view text) -> std::optional<std::string> {
    if (text == "a||b") return "an empty alternative at offset 2";
    return std::nullopt;
  };
  CHECK(problems_of("records: {diags.debug.tags: a||b}\n", check)
            .front()
            .starts_with("1:29: proxy.config.diags.debug.tags: an empty alternative at offset 2"));
}

TEST_CASE("records.yaml: keys and nesting have limits", "[config][records_file]") {
  const auto nested = [](int levels) {
    std::string text = "records: ";
    for (int i = 1; i < levels; ++i)
      text += "{a: ";
    return text + "{}" + std::string(static_cast<std::size_t>(levels - 1), '}');
  };
  // One level is the document itself.
  CHECK(problems_of(nested(15)).front().find("not offered") != std::string::npos);
  CHECK(problems_of(nested(16)).front().find("nested deeper than 16 levels") != std::string::npos);
  CHECK(problems_of(nested(5000)).size() >= 1);
  CHECK(problems_of("records:\n  " + std::string(256, 'k') + ": 1\n").front().find("not offered") !=
        std::string::npos);
  CHECK(problems_of("records:\n  " + std::string(257, 'k') + ": 1\n").front() ==
        "2:3: a key longer than 256 bytes");
}

TEST_CASE("records.yaml: more than a hundred problems are counted", "[config][records_file]") {
  std::string text = "records:\n";
  for (int i = 0; i < 150; ++i)
    text += "  x" + std::to_string(i) + ": 1\n";
  const Lines lines = problems_of(text);
  REQUIRE(lines.size() == 101);
  CHECK(lines.back() == " 50 further problems are not shown");
}

TEST_CASE("records.yaml: whatever is done to a file, it is read or refused", "[config][records_file]") {
  std::mt19937 random(11);
  const std::string whole = default_records_yaml();
  const std::string odd = "\t\n\r:{}[]#&*!|>'\"%@`-?, ~\0\xff\xc3";
  int refused = 0;
  for (int round = 0; round < 400; ++round) {
    std::string text = whole.substr(random() % 500, 300 + random() % 1500);
    for (int i = 0; i < 6; ++i)
      text[random() % text.size()] = odd[random() % odd.size()];
    const auto file = parse_records_file(text, "f");
    if (file) continue;
    ++refused;
    for (const Problem& problem : file.error())
      CHECK(to_string(problem).find('\n') == std::string::npos);
    CHECK(file.error().size() <= ProblemList::kProblemsMax + 1);
    CHECK_FALSE(file.error().empty());
  }
  CHECK(refused > 0);
}
