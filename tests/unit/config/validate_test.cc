// SPDX-License-Identifier: Apache-2.0
#include "config/validate.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "config/server_ports.h"

using namespace telltale::config;

namespace {

std::string fault_of(Record record, std::string_view text, const TagPatternCheck& check = {}) {
  const auto value = validate(record, text, check);
  return value ? "" : value.error().what.substr(name(record).size() + 2);
}

struct Refused {
  std::string text;
  std::string fault;
};

void check_refused(Record record, const std::vector<Refused>& table) {
  for (const Refused& row : table) {
    INFO(name(record) << " = " << row.text);
    CHECK(fault_of(record, row.text) == row.fault);
  }
}

}  // namespace

TEST_CASE("validate: only plain decimal numbers are integers", "[config][validate]") {
  check_refused(Record::kHttpConnectAttemptsTimeout,
                {
                    {"", "\"\" is not an integer"},
                    {"abc", "\"abc\" is not an integer"},
                    {"-", "\"-\" is not an integer"},
                    {"+5", "\"+5\" is not an integer"},
                    {"010", "\"010\" has a leading zero"},
                    {"0o17", "\"0o17\" is not an integer"},
                    {"0x10", "\"0x10\" is not an integer"},
                    {"1_000", "\"1_000\" is not an integer"},
                    {"10M", "\"10M\" is not an integer"},
                    {"10s", "\"10s\" is not an integer"},
                    {"1.5", "\"1.5\" is not an integer"},
                    {"1e3", "\"1e3\" is not an integer"},
                    {" 10", "\" 10\" is not an integer"},
                    {"10 ", "\"10 \" is not an integer"},
                    {"1\n", "\"1\\x0a\" is not an integer"},
                    {std::string("1\0", 2), "\"1\\x00\" is not an integer"},
                    {"\xd9\xa1", "\"\xd9\xa1\" is not an integer"},
                    {"99999999999999999999", "\"99999999999999999999\" is out of range"},
                    {"-99999999999999999999", "\"-99999999999999999999\" is out of range"},
                });
}

TEST_CASE("validate: a problem names the record and what it takes", "[config][validate]") {
  const auto value = validate(Record::kHttpConnectAttemptsTimeout, "abc");
  REQUIRE_FALSE(value);
  CHECK(to_string(value.error()) ==
        "proxy.config.http.connect_attempts_timeout: \"abc\" is not an integer; expected seconds, 1 to 3600");
  CHECK(expectation(Record::kHttpInsertRequestViaStr) == "0 or 1");
  CHECK(expectation(Record::kDiagsDebugEnabled) == "0 to 3");
  CHECK(expectation(Record::kHttpRequestHeaderMaxSize) == "bytes, 1024 to 1048576");
  CHECK(expectation(Record::kDiagRingSize) == "bytes, a power of two from 65536 to 16777216");
}

TEST_CASE("validate: every integer takes its least and greatest value and nothing beyond",
          "[config][validate]") {
  for (const RecordInfo& record : record_table()) {
    if (record.kind != Kind::kInteger) continue;
    INFO(record.name);
    const auto least = validate(record.id, std::to_string(record.minimum));
    const auto greatest = validate(record.id, std::to_string(record.maximum));
    REQUIRE(least);
    REQUIRE(greatest);
    CHECK(least->integer == record.minimum);
    CHECK(greatest->integer == record.maximum);
    CHECK(fault_of(record.id, std::to_string(record.minimum - 1)).ends_with("is out of range"));
    CHECK(fault_of(record.id, std::to_string(record.maximum + 1)).ends_with("is out of range"));
  }
}

TEST_CASE("validate: a switch is 0 or 1, no word", "[config][validate]") {
  for (const char* word : {"yes", "no", "on", "off", "true", "false", "~", "2", "00", "01"}) {
    INFO(word);
    CHECK_FALSE(validate(Record::kHttpCacheHttp, word));
  }
}

TEST_CASE("validate: the ring size is a power of two", "[config][validate]") {
  CHECK(validate(Record::kDiagRingSize, "131072"));
  check_refused(Record::kDiagRingSize, {
                                           {"65537", "\"65537\" is not a power of two"},
                                           {"196608", "\"196608\" is not a power of two"},
                                           {"32768", "\"32768\" is out of range"},
                                           {"33554432", "\"33554432\" is out of range"},
                                       });
}

TEST_CASE("validate: output letters are those of the outputs there are, each once", "[config][validate]") {
  for (const char* good : {"", "O", "E", "L", "B", "EL", "LE", "LB", "N", "S", "LJ", "OELBNSJ"})
    CHECK(validate(Record::kDiagsOutputError, good));
  check_refused(Record::kDiagsOutputError, {
                                               {"X", "\"X\" is not an output letter"},
                                               {"e", "\"e\" is not an output letter"},
                                               {"E L", "\" \" is not an output letter"},
                                               {"E,L", "\",\" is not an output letter"},
                                               {"EE", "\"EE\" has a letter twice"},
                                               {"ELE", "\"ELE\" has a letter twice"},
                                               {"stderr", "\"s\" is not an output letter"},
                                           });
  CHECK(validate(Record::kDiagsOutputError, "X").error().expected ==
        "letters of O (stdout), E (stderr), L (diags.log), B (diags.blog, binary), N (diags.json, JSON lines), S (syslog) and "
        "J (journald), or none");
}

TEST_CASE("validate: where syslog and journald listen, whose lines they are, and what they are to syslog", "[config][validate]") {
  CHECK(validate(Record::kDiagSyslogSocket, "/" + std::string(106, 'a')));
  check_refused(Record::kDiagSyslogSocket, {
                                               {"", "\"\" is not an absolute path"},
                                               {"dev/log", "\"dev/log\" is not an absolute path"},
                                               {"/" + std::string(107, 'a'), quote("/" + std::string(107, 'a')) + " is longer than 107 bytes"},
                                           });
  CHECK(validate(Record::kDiagIdentifier, std::string(48, '~')));
  check_refused(Record::kDiagIdentifier, {
                                             {"", "the name is empty"},
                                             {"a b", "\"a b\" has a space or what is not printable ASCII"},
                                             {"\xc3\xa4", quote("\xc3\xa4") + " has a space or what is not printable ASCII"},
                                             {std::string(49, 'a'), quote(std::string(49, 'a')) + " is longer than 48 bytes"},
                                         });
  for (const char* good : {"LOG_DAEMON", "LOG_USER", "LOG_LOCAL0", "LOG_LOCAL7"}) CHECK(validate(Record::kSyslogFacility, good));
  check_refused(Record::kSyslogFacility, {
                                             {"daemon", "\"daemon\" is not a facility for programs"},
                                             {"LOG_KERN", "\"LOG_KERN\" is not a facility for programs"},
                                             {"LOG_LOCAL8", "\"LOG_LOCAL8\" is not a facility for programs"},
                                             {"LOG_LOCAL", "\"LOG_LOCAL\" is not a facility for programs"},
                                         });
  CHECK(validate(Record::kDiagJsonFilename, "stdout"));
  check_refused(Record::kDiagJsonFilename, {{"a/b", "\"a/b\" names a folder"}});
}

TEST_CASE("validate: the log file is a plain file name", "[config][validate]") {
  CHECK(validate(Record::kDiagsLogfileFilename, "diags.log"));
  CHECK(validate(Record::kDiagsLogfileFilename, std::string(255, 'a')));
  CHECK_FALSE(validate(Record::kDiagsLogfileFilename, std::string(256, 'a')));
  check_refused(Record::kDiagsLogfileFilename,
                {
                    {"", "the file name is empty"},
                    {".", "\".\" is a folder"},
                    {"..", "\"..\" is a folder"},
                    {"/var/log/diags.log", "\"/var/log/diags.log\" names a folder"},
                    {"../diags.log", "\"../diags.log\" names a folder"},
                    {"diags.log/", "\"diags.log/\" names a folder"},
                    {"a\nb", "\"a\\x0ab\" has a control character"},
                    {std::string("a\0b", 3), "\"a\\x00b\" has a control character"},
                });
  CHECK(fault_of(Record::kDiagsLogfileFilename, "stdout").find("is not a file here") != std::string::npos);
  CHECK(fault_of(Record::kDiagsLogfileFilename, "stderr").find("is not a file here") != std::string::npos);
}

TEST_CASE("validate: a fraction is a plain decimal number from 0 to 1", "[config][validate]") {
  for (const char* value : {"0", "1", "0.1", "0.10", "0.0", "1.0", "1.00", "0.9999999999"}) {
    INFO(value);
    CHECK(validate(Record::kHttpCacheHeuristicLmFactor, value));
  }
  for (const char* value : {"", ".", ".1", "1.", "0.1.1", "-0.1", "+0.1", "1e-1", "0,1", "0.1 ", "nan", "0x1", "0.99999999999"}) {
    INFO(value);
    CHECK_FALSE(validate(Record::kHttpCacheHeuristicLmFactor, value));
  }
  for (const char* value : {"1.01", "2", "00.1", "10"}) {
    INFO(value);
    CHECK(fault_of(Record::kHttpCacheHeuristicLmFactor, value).find("is out of range") != std::string::npos);
  }
}

TEST_CASE("validate: tag patterns are checked by the function handed in", "[config][validate]") {
  const TagPatternCheck check = [](std::string_view text) -> std::optional<std::string> {
    if (text == "http(") return "missing closing parenthesis at offset 5";
    return std::nullopt;
  };
  CHECK(fault_of(Record::kDiagsDebugTags, "http|dns", check) == "");
  CHECK(fault_of(Record::kDiagsDebugTags, "http(", check) == "missing closing parenthesis at offset 5");
  CHECK(fault_of(Record::kDiagsDebugTags, "a\tb", check) == "\"a\\x09b\" has a control character");
}

TEST_CASE("validate: without a check of tag patterns the empty one is refused", "[config][validate]") {
  CHECK(fault_of(Record::kDiagsDebugTags, "") == "the pattern is empty");
  CHECK(fault_of(Record::kDiagsDebugTags, "x") == "");
}

TEST_CASE("server_ports: ports, addresses and families are read", "[config][server_ports]") {
  const auto ports =
      parse_server_ports(" 8080:ip-in=127.0.0.1  80 443:ipv6 81:ipv4 82:ip-in=[0:0::1] 83:ipv6:ip-in=[::] ");
  REQUIRE(ports);
  CHECK(*ports == std::vector<ServerPort>{{"127.0.0.1", 8080, false},
                                          {"0.0.0.0", 80, false},
                                          {"::", 443, true},
                                          {"0.0.0.0", 81, false},
                                          {"::1", 82, true},
                                          {"::", 83, true}});
  CHECK(parse_server_ports("1")->front().port == 1);
  CHECK(parse_server_ports("65535")->front().port == 65535);
}

TEST_CASE("server_ports: what Traffic Server has beyond this is refused by name", "[config][server_ports]") {
  for (const char* option :
       {"ssl", "proto=http2", "tr-in", "tr-out", "tr-full", "tr-pass", "blind", "compressed", "quic",
        "ip-out=[::1]", "ip-resolve=ipv4", "fd=7", "pp", "mptcp", "allow-plain"}) {
    const std::string key = std::string(option).substr(0, std::string(option).find('='));
    CHECK(fault_of(Record::kHttpServerPorts, std::string("443:") + option) ==
          "\"" + key + "\" is not offered yet");
  }
}

TEST_CASE("server_ports: bad values are refused", "[config][server_ports]") {
  check_refused(
      Record::kHttpServerPorts,
      {
          {"", "no port"},
          {"   ", "no port"},
          {"0", "\"0\" is not a port, 1 to 65535"},
          {"65536", "\"65536\" is not a port, 1 to 65535"},
          {"080", "\"080\" is not a port, 1 to 65535"},
          {"-1", "\"-1\" is not a port, 1 to 65535"},
          {"http", "\"http\" is not a port, 1 to 65535"},
          {"8080,8081", "\"8080,8081\" is not a port, 1 to 65535"},
          {"99999999999", "\"99999999999\" is not a port, 1 to 65535"},
          {":8080", "\"\" is not a port, 1 to 65535"},
          {"127.0.0.1:8080", "\"127.0.0.1\" is not a port, 1 to 65535"},
          {"8080:", "\"8080:\" ends with a colon"},
          {"8080::ipv4", "\"\" is not an option of a port"},
          {"8080:ip-in", "\"ip-in\" is not an option of a port"},
          {"8080:ip-in=", "\"ip-in=\" has no numeric address (an IPv6 address stands in brackets)"},
          {"8080:ip-in=localhost",
           "\"ip-in=localhost\" has no numeric address (an IPv6 address stands in brackets)"},
          {"8080:ip-in=127.0.0",
           "\"ip-in=127.0.0\" has no numeric address (an IPv6 address stands in brackets)"},
          {"8080:ip-in=[127.0.0.1]",
           "\"ip-in=[127.0.0.1]\" has no numeric address (an IPv6 address stands in brackets)"},
          {"8080:ip-in=[::1", "\"ip-in=[::1\" has no numeric address (an IPv6 address stands in brackets)"},
          {"8080:ip-in=127.0.0.1:ipv6", "\"8080:ip-in=127.0.0.1:ipv6\" has an address of the other family"},
          {"8080:ipv4:ip-in=[::1]", "\"8080:ipv4:ip-in=[::1]\" has an address of the other family"},
          {"8080:ipv4:ipv6", "\"8080:ipv4:ipv6\" names an address family twice"},
          {"8080:ip-in=127.0.0.1:ip-in=127.0.0.2",
           "\"8080:ip-in=127.0.0.1:ip-in=127.0.0.2\" has ip-in twice"},
          {"8080:tls", "\"tls\" is not an option of a port"},
          {"8080 8080", "0.0.0.0 port 8080 is there twice"},
          {"80:ip-in=[::1] 80:ip-in=[0::1]", "::1 port 80 is there twice"},
          {"80\t81", "\"80\\x0981\" has a control character"},
      });
  CHECK_FALSE(validate(Record::kHttpServerPorts, "8080:ip-in=::1"));
}

TEST_CASE("server_ports: 64 ports are taken, 65 are not", "[config][server_ports]") {
  std::string text;
  for (int port = 1; port <= 64; ++port)
    text += std::to_string(port) + " ";
  CHECK(parse_server_ports(text));
  CHECK(parse_server_ports(text + "65").error() == "more than 64 ports");
}
