// SPDX-License-Identifier: Apache-2.0
#include "config/problem.h"

#include <catch2/catch.hpp>

using namespace telltale::config;

TEST_CASE("Problem: prints file, line, column, what is wrong and what was expected", "[config][problem]") {
  const std::string what = "proxy.config.http.connect_attempts_timeout: \"abc\" is not an integer";
  CHECK(to_string({"records.yaml", 12, 5, what, "seconds, 1 to 3600"}) ==
        "records.yaml:12:5: proxy.config.http.connect_attempts_timeout: \"abc\" is not an integer; "
        "expected seconds, 1 to 3600");
  CHECK(to_string({"records.yaml", 12, 0, "w", "e"}) == "records.yaml:12: w; expected e");
  CHECK(to_string({"records.yaml", 0, 0, "w", "e"}) == "records.yaml: w; expected e");
  CHECK(to_string({"--set", 0, 0, "w", ""}) == "--set: w");
  CHECK(to_string({"", 0, 0, "w", "e"}) == "w; expected e");
}

TEST_CASE("Problem: quoted text cannot end or colour the line", "[config][problem]") {
  CHECK(quote("a b") == "\"a b\"");
  CHECK(quote("a\"b\\c") == "\"a\\\"b\\\\c\"");
  CHECK(quote("a\r\nb") == "\"a\\x0d\\x0ab\"");
  CHECK(quote("\x1b[31m") == "\"\\x1b[31m\"");
  CHECK(quote(std::string_view("a\0b\x7f", 4)) == "\"a\\x00b\\x7f\"");
  CHECK(quote("\xc2\x9b") == "\"\\xc2\\x9b\"");
  CHECK(quote("\xc3\xa9") == "\"\xc3\xa9\"");
}

TEST_CASE("Problem: quoted text is cut after 80 bytes, never inside a character, and says so",
          "[config][problem]") {
  CHECK(quote(std::string(80, 'x')) == "\"" + std::string(80, 'x') + "\"");
  CHECK(quote(std::string(81, 'x')) == "\"" + std::string(80, 'x') + "\"...");
  CHECK(quote(std::string(79, 'x') + "\xc3\xa9") == "\"" + std::string(79, 'x') + "\"...");
  CHECK(quote(std::string(78, 'x') + "\xc3\xa9z") == "\"" + std::string(78, 'x') + "\xc3\xa9\"...");
}

TEST_CASE("ProblemList: problems come out in the order of their lines", "[config][problem]") {
  ProblemList list("f");
  list.add(3, 1, "c");
  list.add(1, 9, "b");
  list.add(1, 2, "a");
  const Problems problems = list.take();
  REQUIRE(problems.size() == 3);
  CHECK(to_string(problems[0]) == "f:1:2: a");
  CHECK(to_string(problems[1]) == "f:1:9: b");
  CHECK(to_string(problems[2]) == "f:3:1: c");
}

TEST_CASE("ProblemList: the hundredth problem is shown, the next ones are counted", "[config][problem]") {
  ProblemList full("f");
  for (int i = 1; i <= 100; ++i)
    full.add(i, 0, "x");
  CHECK(full.take().size() == 100);

  ProblemList over("f");
  for (int i = 1; i <= 101; ++i)
    over.add(i, 0, "x");
  const Problems problems = over.take();
  REQUIRE(problems.size() == 101);
  CHECK(to_string(problems.back()) == "f: 1 further problems are not shown");
}
