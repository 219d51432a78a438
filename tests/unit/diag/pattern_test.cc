// SPDX-License-Identifier: Apache-2.0
#include <telltale/diag/debug_control.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>

#include <catch2/catch.hpp>

#include "tests/unit/diag/debug_state.h"

namespace telltale::diag {
namespace {

struct Refused {
  const char* pattern;
  std::size_t offset;
  const char* reason;
};

}  // namespace

TEST_CASE("Pattern: what PCRE2 does not understand is refused with its offset", "[diag][pattern]") {
  for (const Refused& bad : {Refused{"(", 1, "parenthes"}, {"http(", 5, "parenthes"}, {"http|(", 6, "parenthes"},
                             {"[a", 2, "terminating ]"}, {"*", 0, "quantifier"}, {"a)", 1, "parenthes"}, {"a\\", 2, "end of pattern"},
                             {"(*UTF)a", 6, "UTF"}}) {
    CAPTURE(bad.pattern);
    auto refusal = check_tag_pattern(bad.pattern);
    REQUIRE(refusal);
    CHECK(refusal->offset == bad.offset);
    CHECK_THAT(refusal->what, Catch::Contains(bad.reason));
  }
}

TEST_CASE("Pattern: an empty pattern and an empty alternative are refused with its offset", "[diag][pattern]") {
  for (const Refused& bad :
       {Refused{"", 0, "empty"}, {"http|", 5, "empty"}, {"|http", 0, "empty"}, {"a||b", 2, "empty"}, {"(a|)", 3, "empty"},
        {"()", 1, "empty"}, {"x(|a)", 2, "empty"}, {"http(s|)", 7, "empty"}, {"(?:a|)b", 5, "empty"}, {"(?<n>|a)", 5, "empty"},
        {"(?i:|a)", 4, "empty"}, {"(?=|a)", 3, "empty"}, {"\\||", 3, "empty"}, {"[|]|", 4, "empty"}, {"a|(?#x)|b", 7, "empty"},
        {"\\Qa|\\E|", 7, "empty"}, {"(a)|(|b)", 5, "empty"}, {"(?(?=a)b|)", 9, "empty"}, {"(*COMMIT)|a", 9, "empty"}}) {
    CAPTURE(bad.pattern);
    auto refusal = check_tag_pattern(bad.pattern);
    REQUIRE(refusal);
    CHECK(refusal->offset == bad.offset);
    CHECK_THAT(refusal->what, Catch::Contains(bad.reason));
  }
}

TEST_CASE("Pattern: one that is content with nothing is refused, \".*\" is not", "[diag][pattern]") {
  for (const char* pattern : {"a*", "(http)?", "^", "(?!http_hdrs)", "(?i)|http", "(?=)", "x{0}", "h{0,2}", "\\Q\\E", "(?#c)"}) {
    CAPTURE(pattern);
    CHECK(check_tag_pattern(pattern));
  }
  for (const char* pattern : {".*", ".+", ".", "(?!http_hdrs).*", "h*ttp", "http(s)?", "^http", "(?s:.)*"}) {
    CAPTURE(pattern);
    CHECK_FALSE(check_tag_pattern(pattern));
  }
}

TEST_CASE("Pattern: what only looks like an empty alternative or a separating comma is taken", "[diag][pattern]") {
  for (const char* pattern :
       {"http|dns", "a\\|", "a\\(\\)", "[|]", "[]|]x", "[^]|]x", "[[:alpha:]|]", "[\\]|]", "\\Q||\\E", "\\Qa,b\\E", "a{2,3}", "a{2,}b",
        "a\\,b", "[,]", "(?<name>a|b)", "(?'name'a)", "(?P<name>a)(?P=name)", "(a)\\1", "(?|a|b)", "(?>a|b)", "(?i)a", "(?i:a)",
        "(?-i:a)", "a(?#,|)b", "(?(?=a)ab|c)", "(a)?(?(1)b|c)", "a(?=b)", "a(?<=a)b", "a(?<!b)c", "(*NO_JIT)a", "(a)(?1)", "x(?R)?",
        "\\x{2c}", "\\p{L}", "a(?C1)b", "(?:(?:a))", "(*pla:a)a"}) {
    CAPTURE(pattern);
    auto refusal = check_tag_pattern(pattern);
    CHECK((refusal ? refusal->what : "") == "");
  }
}

TEST_CASE("Pattern: a comma gets a hint, with its offset", "[diag][pattern]") {
  for (const Refused& bad : {Refused{"http,dns", 4, "'|'"}, {"(a,b)", 2, "'|'"}, {"a{,3}", 2, "'|'"}, {"[,],", 3, "'|'"}}) {
    CAPTURE(bad.pattern);
    auto refusal = check_tag_pattern(bad.pattern);
    REQUIRE(refusal);
    CHECK(refusal->offset == bad.offset);
    CHECK_THAT(refusal->what, Catch::Contains(bad.reason));
  }
}

TEST_CASE("Pattern: 4,096 bytes are taken, 4,097 are not", "[diag][pattern]") {
  CHECK_FALSE(check_tag_pattern(std::string(4096, 'a')));
  CHECK(check_tag_pattern(std::string(4097, 'a')));
}

TEST_CASE("Pattern: bytes that are no text are matched as bytes", "[diag][pattern]") {
  CleanDebug clean;
  RuntimeControl control("test_bytes");
  for (std::string_view pattern : {std::string_view("\xff"), std::string_view("test_\xff\xfe|\xc3"), std::string_view("a\0b", 3)}) {
    REQUIRE(set_base({Mode::kOn, std::string(pattern), ""}));
    CHECK_FALSE(control.on());
  }
  REQUIRE(set_base({Mode::kOn, "\xff|test_bytes", ""}));
  CHECK(control.on());
  REQUIRE(set_base({Mode::kOn, "[^\xff]*s$", ""}));
  CHECK(control.on());
}

TEST_CASE("Pattern: a refused one leaves all as it was", "[diag][pattern]") {
  CleanDebug clean;
  RuntimeControl control("test_refused");
  REQUIRE(set_base({Mode::kOn, "test_refused", ""}));
  REQUIRE(open_lease({"other", ""}));
  std::uint64_t walks = control_counters().walks;
  CHECK_FALSE(set_base({Mode::kOn, "http|(", ""}));
  CHECK_FALSE(set_base({Mode::kOn, "", ""}));
  CHECK_FALSE(set_base({Mode::kOff, "*", ""}));
  CHECK_FALSE(set_base({Mode::kOnForClients, "a", "1.2.3"}));
  CHECK_FALSE(open_lease({"a||b", ""}));
  CHECK_FALSE(open_lease({"a", "10.0.0.0/33"}));
  CHECK_FALSE(open_lease({"a", " "}));
  CHECK(control.on());
  CHECK(base() == Base{Mode::kOn, "test_refused", ""});
  REQUIRE(leases().size() == 1);
  CHECK(leases()[0].tags == "other");
  CHECK(control_counters().walks == walks);
}

TEST_CASE("Pattern: one that backtracks without end is refused within a second, and names the tag", "[diag][pattern]") {
  CleanDebug clean;
  std::vector<std::unique_ptr<RuntimeControl>> controls;
  for (int i = 0; i < 500; ++i) controls.push_back(std::make_unique<RuntimeControl>(std::string(30, 'a') + "!" + std::to_string(i)));
  REQUIRE(set_base({Mode::kOn, "aaaa", ""}));
  std::uint64_t errors = control_counters().match_errors;
  auto start = std::chrono::steady_clock::now();
  auto refused = set_base({Mode::kOn, "(a+)+$", ""});
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(1));
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().what, Catch::Contains("aaaaaa!") && Catch::Contains("limit"));
  CHECK(control_counters().match_errors == errors + 1);
  CHECK(base().tags == "aaaa");
  for (auto& control : controls) CHECK(control->on());
  auto lease = open_lease({"(a+)+$", ""});
  CHECK_FALSE(lease);
  CHECK(leases().empty());
}

TEST_CASE("Pattern: a new tag that a pattern in force cannot be matched against is off, and counted", "[diag][pattern]") {
  CleanDebug clean;
  REQUIRE(set_base({Mode::kOn, "(b+)+$", ""}));
  std::uint64_t errors = control_counters().match_errors;
  RuntimeControl control(std::string(40, 'b') + "!");
  CHECK_FALSE(control.on());
  CHECK(control_counters().match_errors == errors + 1);
  RuntimeControl good("bbb");
  CHECK(good.on());
}

TEST_CASE("Pattern: a match needs no state of its thread, and not much of its stack", "[diag][pattern]") {
  CleanDebug clean;
  REQUIRE(set_base({Mode::kOn, "(a|b)*c", ""}));
  // Each thread makes a tag, so it matches, on a stack near the smallest, and ends at once.
  for (int i = 0; i < 50; ++i) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 256 * 1024);
    pthread_t thread;
    std::string tag = std::string(30, "ab"[i % 2]) + std::string(30, 'b') + "c" + std::to_string(i);
    REQUIRE(pthread_create(
                &thread, &attributes,
                [](void* argument) -> void* {
                  RuntimeControl control(*static_cast<std::string*>(argument));
                  return control.on() ? argument : nullptr;
                },
                &tag) == 0);
    void* result = nullptr;
    pthread_join(thread, &result);
    pthread_attr_destroy(&attributes);
    CHECK(result == &tag);
  }
}

}  // namespace telltale::diag
