// SPDX-License-Identifier: Apache-2.0
// Rules one by one: what the parser takes, what it refuses and where, and what globs match.
#include <telltale/diag/debug_control.h>

#include <random>
#include <string>

#include <catch2/catch.hpp>

#include "lib/diag/src/glob.h"
#include "tests/unit/diag/debug_state.h"

namespace telltale::diag {
namespace {

// The slow obvious version of a glob.
bool obvious(std::string_view glob, std::string_view subject) {
  if (glob.empty()) return subject.empty();
  if (glob[0] == '*') return obvious(glob.substr(1), subject) || (!subject.empty() && obvious(glob, subject.substr(1)));
  if (subject.empty()) return false;
  if (glob[0] == '\\' && glob.size() > 1) return glob[1] == subject[0] && obvious(glob.substr(2), subject.substr(1));
  return (glob[0] == '?' || glob[0] == subject[0]) && obvious(glob.substr(1), subject.substr(1));
}

std::string refusal(std::string_view rules) {
  auto refused = check_rules(rules);
  return refused ? refused->what : "";
}
std::size_t offset(std::string_view rules) {
  auto refused = check_rules(rules);
  return refused ? refused->offset.value_or(9999) : 9998;
}

}  // namespace

TEST_CASE("Glob: agrees with the slow obvious version on short random text", "[diag][rule]") {
  std::mt19937 random(7);
  auto text = [&](const char* letters, std::size_t most) {
    std::string made;
    for (std::size_t n = random() % (most + 1); n > 0; --n)
      made += letters[random() % std::string_view(letters).size()];
    return made;
  };
  int wrong = 0, matched = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string glob = text("ab*?\\/", 6), subject = text("ab/*", 6);
    bool expected = obvious(glob, subject);
    matched += expected;
    wrong += glob_matches(glob, subject) != expected;
  }
  CHECK(wrong == 0);
  CHECK(matched > 500);
}

TEST_CASE("Glob: many stars take steps in proportion to glob times subject", "[diag][rule]") {
  std::string glob, subject(2000, 'a');
  for (int i = 0; i < 500; ++i) glob += "*a";
  CHECK(glob_matches(glob, subject));
  CHECK_FALSE(glob_matches(glob + "*b", subject));
}

TEST_CASE("Glob: of a file without a slash it is about the last part of the path", "[diag][rule]") {
  CHECK(file_glob_matches("session.cc", "http1/session.cc"));
  CHECK(file_glob_matches("*.cc", "http1/session.cc"));
  CHECK(file_glob_matches("http1/*", "http1/session.cc"));
  CHECK_FALSE(file_glob_matches("http1", "http1/session.cc"));
  CHECK_FALSE(file_glob_matches("http2/*", "http1/session.cc"));
  CHECK_FALSE(file_glob_matches("*/http1/*", "http1/session.cc"));
}

TEST_CASE("Rules: what the parser takes", "[diag][rule]") {
  for (const char* good : {"", " ; \n;", "tag=http", "-tag=http", "- tag=http",
                           "tag=http|dns file=*.cc function=on_* line=10 module=*.so text=miss", "line=1-4294967295",
                           "text=\"two words; and more\"", "text=\"a \\\"quote\\\" and a \\\\\"",
                           "tag=a;tag=b\ntag=c ;", "text=a=b", "tag=\"a;b\"", "\ttag=x\r\n"}) {
    CAPTURE(good);
    CHECK(refusal(good) == "");
  }
}

TEST_CASE("Rules: a refusal names the rule, the byte and what was expected", "[diag][rule]") {
  struct Row {
    const char* rules;
    const char* what;
    std::size_t offset;
  };
  for (const Row& row : std::initializer_list<Row>{
           {"tags=http", "rule 1: \"tags\" is no key; expected tag, file, function, line, module or text", 0},
           {"tag=a; file", "rule 2: expected '=' behind file", 11},
           {"tag=a; file=", "rule 2: the value of file is empty", 12},
           {"file=\"\"", "rule 1: the value of file is empty", 5},
           {"-", "rule 1: expected KEY=VALUE", 1},
           {"--tag=a", "rule 1: \"-tag\" is no key", 1},
           {"=a", "rule 1: expected KEY=VALUE", 0},
           {"tag=a\ntag=b tag=c", "rule 2: tag stands twice", 12},
           {"text=\"a", "rule 1: expected a closing '\"'", 5},
           {"text=\"a\"b", "rule 1: expected a blank, ';' or the end behind a value", 8},
           {"line=0", "rule 1: \"0\" is no line; expected N or N-M, from 1", 5},
           {"line=x", "is no line", 5},
           {"line=5-", "is no line", 5},
           {"line=-5", "is no line", 5},
           {"line=5-4", "rule 1: \"5-4\" ends before it begins", 5},
           {"line=4294967296", "is no line", 5},
           {"line=1-2-3", "is no line", 5},
           {"tag=a;tag=http(", "rule 2: tag: not a valid pattern: missing closing parenthesis", 15},
           {"tag=a|", "rule 1: tag: ", 6},
           {"tag=a,b", "rule 1: tag: ", 5},
           {"tag=a*", "rule 1: tag: ", 4},
       }) {
    CAPTURE(row.rules);
    CHECK_THAT(refusal(row.rules), Catch::Contains(row.what));
    CHECK(offset(row.rules) == row.offset);
  }
}

TEST_CASE("Rules: 128 rules and 16,384 bytes are taken, one more is refused", "[diag][rule]") {
  std::string rules;
  for (std::size_t i = 0; i < kRulesMax; ++i) rules += "tag=a;";
  CHECK(refusal(rules) == "");
  CHECK_THAT(refusal(rules + "tag=b"), Catch::Contains("more than 128 rules"));
  std::string long_text = "text=" + std::string(kRulesBytesMax - 5, 'x');
  CHECK(refusal(long_text) == "");
  CHECK_THAT(refusal(long_text + "x"), Catch::Contains("longer than 16384 bytes"));
}

TEST_CASE("Rules: a refused change leaves the former rules in force", "[diag][rule]") {
  CleanDebug clean;
  RuntimeControl on("rule_kept");
  REQUIRE(set_base({Mode::kOn, "nothing", "", "tag=rule_kept"}));
  CHECK(on.on());
  auto refused = set_base({Mode::kOn, "nothing", "", "tag=("});
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().what, Catch::Contains("rule 1"));
  CHECK(on.on());
  CHECK(base().rules == "tag=rule_kept");
  auto lease = open_lease({"", "", true, "line=0"});
  REQUIRE_FALSE(lease);
  CHECK(leases().empty());
}

TEST_CASE("Rules: a lease of nothing but exclusions is refused", "[diag][rule]") {
  CleanDebug clean;
  auto refused = open_lease({"", "", false, "-tag=http; -file=x.cc"});
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().what, Catch::Contains("switch nothing on"));
  CHECK_FALSE(open_lease({"", ""}));
}

}  // namespace telltale::diag
