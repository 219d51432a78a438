// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "remap/remap_table.h"

using namespace telltale::remap;

namespace {

using Lines = std::vector<std::string>;

// The problems as printed, without the file's name.
Lines problems_of(const std::string& text) {
  const auto table = parse_remap_table(text, "f");
  Lines lines;
  if (!table) {
    for (const auto& problem : table.error())
      lines.push_back(to_string(problem).substr(2));
  }
  return lines;
}

std::shared_ptr<const RemapTable> table_of(const std::string& text) {
  auto table = parse_remap_table(text, "f");
  if (!table) FAIL(to_string(table.error().front()));
  return *table;
}

// The first problem of `map FROM TO`, from its column on.
std::string problem_of(const std::string& from, const std::string& to) {
  const Lines lines = problems_of("map " + from + " " + to);
  REQUIRE(lines.size() == 1);
  return lines[0].substr(2);
}

}  // namespace

TEST_CASE("remap.config: rules keep their URLs, their line and their text", "[remap][file]") {
  const auto table = table_of(
      "# a comment\r\n"
      "\r\n"
      "map http://Example.COM/docs http://127.0.0.1:9000/base/\r\n"
      "  map\t/img/   HTTP://[0:0::1]:81   # another comment\n"
      "map http://[::1]:8080 http://origin.example");
  const auto& rules = table->mappings();
  REQUIRE(rules.size() == 3);
  CHECK(rules[0].from == RuleUrl{"http", "example.com", 80, "/docs"});
  CHECK(rules[0].to == RuleUrl{"http", "127.0.0.1", 9000, "/base/"});
  CHECK(rules[0].origin_authority == "127.0.0.1:9000");
  CHECK(rules[0].origin_url == "http://127.0.0.1:9000");
  CHECK(rules[0].line == 3);
  CHECK(rules[0].text == "map http://Example.COM/docs http://127.0.0.1:9000/base/");
  CHECK(rules[1].from == RuleUrl{"", "", 0, "/img/"});
  CHECK(rules[1].to == RuleUrl{"http", "::1", 81, "/"});
  CHECK(rules[1].origin_authority == "[::1]:81");
  CHECK(rules[1].origin_url == "http://[::1]:81");
  CHECK(rules[1].line == 4);
  CHECK(rules[1].text == "map /img/ HTTP://[0:0::1]:81");
  CHECK(rules[2].from == RuleUrl{"http", "::1", 8080, "/"});
  CHECK(rules[2].origin_authority == "origin.example");
  CHECK(rules[2].origin_url == "http://origin.example:80");
}

TEST_CASE("remap.config: a file without rules is a table without rules", "[remap][file]") {
  for (const char* text : {"", "\n\n", "# only this", "   \t\r\n"})
    CHECK(table_of(text)->mappings().empty());
}

TEST_CASE("remap.config: rules of Traffic Server that are not offered are refused by name", "[remap][file]") {
  for (const char* rule : {"regex_map", "redirect", "redirect_temporary", "regex_redirect", "reverse_map",
                           "map_with_referer", "map_with_recv_port", "regex_map_with_recv_port",
                           ".definefilter", ".activatefilter", ".deactivatefilter", ".include"}) {
    CHECK(problems_of(std::string(rule) + " http://a/ http://b/") ==
          Lines{std::string("1:1: ") + rule + " is not offered; expected map FROM TO"});
  }
}

TEST_CASE("remap.config: what is no rule is refused", "[remap][file]") {
  CHECK(problems_of("mapp http://a/ http://b/") ==
        Lines{"1:1: \"mapp\" is not a rule; expected map FROM TO"});
  CHECK(problems_of("MAP http://a/ http://b/") == Lines{"1:1: \"MAP\" is not a rule; expected map FROM TO"});
  CHECK(problems_of("http://u:S3CR3T@a/ http://b/") == Lines{"1:1: not a rule; expected map FROM TO"});
  CHECK(problems_of("map") == Lines{"1:1: a rule without FROM and TO; expected map FROM TO"});
  CHECK(problems_of("map http://a/ # http://b/") == Lines{"1:1: a rule without TO; expected map FROM TO"});
}

TEST_CASE("remap.config: options of a rule are refused by name, without what they are given",
          "[remap][file]") {
  CHECK(problems_of("map http://a/ http://b/ @plugin=x.so @pparam=S3CR3T") ==
        Lines{"1:25: \"@plugin\" is not offered; expected map FROM TO",
              "1:38: \"@pparam\" is not offered; expected map FROM TO"});
  CHECK(problems_of("map http://a/ http://b/ @action=allow") ==
        Lines{"1:25: \"@action\" is not offered; expected map FROM TO"});
  CHECK(problems_of("map http://a/ http://b/ tag") ==
        Lines{"1:25: more than FROM and TO; expected map FROM TO"});
  CHECK(problems_of("map http://a/ http://b/ \\\n@plugin=x.so").size() == 2);
}

TEST_CASE("remap.config: bad URLs are refused with their column", "[remap][file]") {
  const std::string good = "http://a/";
  const std::string form = "; expected http://HOST[:PORT]/PATH";
  const std::string host = "; expected a name, an IPv4 address or an IPv6 address in brackets";
  CHECK(problem_of("a/", good) == "5: FROM: not a URL" + form + " or /PATH");
  CHECK(problem_of(good, "a:80") == "15: TO: not a URL" + form);
  CHECK(problem_of(good, "/path") == "15: TO: not a URL" + form);
  CHECK(problem_of(good, "http:/b/") == "15: TO: not a URL" + form);
  CHECK(problem_of(good, "https://b/") == "15: TO: https is not offered yet" + form);
  CHECK(problem_of("https://a/", good) == "5: FROM: https is not offered yet" + form);
  CHECK(problem_of("ws://a/", good) == "5: FROM: the scheme \"ws\" is not offered" + form);
  CHECK(problem_of("://a/", good) == "5: FROM: the scheme \"\" is not offered" + form);
  CHECK(problem_of(good, "http://") == "22: TO: no host" + form);
  CHECK(problem_of(good, "http:///x") == "22: TO: no host" + form);
  CHECK(problem_of(good, "http://:80/") == "22: TO: no host" + form);
  CHECK(problem_of(good, "http://b:/") == "24: TO: \"\" is not a port; expected 1 to 65535");
  CHECK(problem_of(good, "http://b:0/") == "24: TO: \"0\" is not a port; expected 1 to 65535");
  CHECK(problem_of(good, "http://b:65536/") == "24: TO: \"65536\" is not a port; expected 1 to 65535");
  CHECK(problem_of(good, "http://b:80x/") == "24: TO: \"80x\" is not a port; expected 1 to 65535");
  CHECK(problem_of(good, "http://b:1:2/") == "24: TO: \"1:2\" is not a port; expected 1 to 65535");
  CHECK(problem_of(good, "http://b*c/") == "23: TO: \"b*c\" is not a host" + host);
  CHECK(problem_of(good, "http://%62/") == "22: TO: \"%62\" is not a host" + host);
  CHECK(problem_of(good, "http://[::1/") == "22: TO: \"[\" is not a host" + host);
  CHECK(problem_of(good, "http://[::g]/") == "22: TO: \"[::g]\" is not a host" + host);
  CHECK(problem_of(good, "http://[a.b]/") == "22: TO: \"[a.b]\" is not a host" + host);
  CHECK(problem_of(good, "http://[127.0.0.1]/") == "22: TO: \"[127.0.0.1]\" is not a host" + host);
  CHECK(problem_of(good, "http://[]/") == "22: TO: \"[]\" is not a host" + host);
  CHECK(problem_of(good, "http://[::1]x/").find("is not a host") != std::string::npos);
  CHECK(problem_of(good, "http://b/a?q=1") == "25: TO: a query in a rule's URL; expected a path");
  CHECK(problem_of(good, "http://b?q") == "23: TO: a query in a rule's URL; expected a path");
  CHECK(problem_of(good, "http://b/#f") == "24: TO: a fragment in a rule's URL; expected a path");
  CHECK(problem_of("/a?b", good) == "7: FROM: a query in a rule's URL; expected a path");
  CHECK(problem_of("http://a/\\", good) ==
        "14: FROM: a byte that a path cannot have; expected bytes outside RFC 3986 percent-encoded");
  CHECK(problem_of("/a%2", good) ==
        "7: FROM: a byte that a path cannot have; expected bytes outside RFC 3986 percent-encoded");
  CHECK(problem_of("/\xc3\xa9", good) ==
        "6: FROM: a byte that a path cannot have; expected bytes outside RFC 3986 percent-encoded");
}

TEST_CASE("remap.config: a host of 255 bytes is taken, one of 256 is not", "[remap][file]") {
  CHECK(problems_of("map http://" + std::string(255, 'a') + "/ http://b/").empty());
  CHECK(problems_of("map http://" + std::string(256, 'a') + "/ http://b/").size() == 1);
}

TEST_CASE("remap.config: user-info is refused and never repeated", "[remap][file]") {
  for (const char* url : {"http://u:S3CR3T@b/", "http://S3CR3T@b/", "https://u:S3CR3T@b/",
                          "http://u:S3CR3T@[::1]:x/?q", "S3CR3T@b", "u:S3CR3T@b/", "http:/u:S3CR3T@b/",
                          "http:u:S3CR3T@b", "S3CR3T:u@http://b/", "http://u:S3CR3T@b:99999999/"}) {
    for (const std::string& text :
         {"map http://a/ " + std::string(url), "map " + std::string(url) + " http://a/"}) {
      const Lines lines = problems_of(text);
      REQUIRE(lines.size() == 1);
      INFO(lines[0]);
      CHECK(lines[0].find("S3CR3T") == std::string::npos);
    }
  }
  CHECK(problem_of("http://a/", "http://u:S3CR3T@b/") ==
        "22: TO: user-info in a rule's URL; expected http://HOST[:PORT]/PATH");
  // A password may hold what ends an authority; what stands before an @ is not repeated then either.
  for (const char* url : {"http://u:S3/CR3T@b/", "http://u:12345?S3CR3T@b/", "http://u:S3CR3T#x@b/"}) {
    const Lines lines = problems_of(std::string("map http://a/ ") + url);
    REQUIRE(lines.size() == 1);
    INFO(lines[0]);
    CHECK(lines[0].find("S3") == std::string::npos);
  }
}

TEST_CASE("remap.config: the same FROM twice is refused and names both lines", "[remap][file]") {
  CHECK(problems_of("map http://a/x http://b/\n\nmap HTTP://A:80/x http://c/\n") ==
        Lines{"3:5: FROM is the same as on line 1; expected each FROM once"});
  CHECK(problems_of("map /x http://b/\nmap /x http://b/\n") ==
        Lines{"2:5: FROM is the same as on line 1; expected each FROM once"});
  CHECK(problems_of("map http://[::1]/ http://b/\nmap http://[0::1] http://b/\n").size() == 1);
  CHECK(problems_of("map http://a/x http://b/\nmap http://a/x/ http://b/\nmap http://a/X http://b/\nmap "
                    "http://a:81/x http://b/\n")
            .empty());
  // Also where the first of them has a TO that is refused.
  CHECK(problems_of("map /x https://b/\nmap /x http://b/\n").size() == 2);
}

TEST_CASE("remap.config: all problems come in one run, with their lines", "[remap][file]") {
  CHECK(
      problems_of("map http://a/ https://b/\nregex_map x y\nmap /a http://c:0/\n\nmap /b?x http://d/#y\n") ==
      Lines{"1:15: TO: https is not offered yet; expected http://HOST[:PORT]/PATH",
            "2:1: regex_map is not offered; expected map FROM TO",
            "3:17: TO: \"0\" is not a port; expected 1 to 65535",
            "5:7: FROM: a query in a rule's URL; expected a path",
            "5:19: TO: a fragment in a rule's URL; expected a path"});
}

TEST_CASE("remap.config: bytes that are no text are refused", "[remap][file]") {
  CHECK(
      problems_of("map http://a/ http://b/\n# \xff\n") ==
      Lines{"2:3: byte 0xFF does not belong in a text file; expected UTF-8 text without control characters"});
  CHECK(problems_of(std::string("map http://a/ http://b/ #\0", 26)).size() == 1);
}
