// SPDX-License-Identifier: Apache-2.0
#include "hint/near_words.h"

#include <algorithm>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <catch2/catch.hpp>

namespace {

std::string hint_for(std::vector<std::string> arguments) {
  CLI::App app("test", "test");
  app.require_subcommand(1);
  app.add_flag("--json");
  CLI::App* debug = app.add_subcommand("debug");
  debug->require_subcommand(1)->fallthrough();
  std::string tags, name;
  CLI::App* enable = debug->add_subcommand("enable")->fallthrough();
  enable->add_option("--tags", tags)->required();
  CLI::App* get = app.add_subcommand("get")->fallthrough();
  get->add_option("NAME", name)->required();
  std::reverse(arguments.begin(), arguments.end());
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError&) {
    return telltale::hint::near_words(app);
  }
  return "no error";
}

}  // namespace

TEST_CASE("near_words: a misspelt command is named with the words that lead to it", "[hint][command_line]") {
  CHECK(hint_for({"debgu"}) == "did you mean 'debug'?");
  CHECK(hint_for({"debug", "enabel"}) == "did you mean 'debug enable'?");
  CHECK(hint_for({"enable"}) == "did you mean 'debug enable'?");
  CHECK(hint_for({"quit"}).empty());
}

TEST_CASE("near_words: a misspelt option is found with a value, without one, and beside another mistake", "[hint][command_line]") {
  CHECK(hint_for({"debug", "enable", "--tag", "http"}) == "did you mean '--tags'?");
  CHECK(hint_for({"debug", "enable", "--tag=http"}) == "did you mean '--tags'?");
  CHECK(hint_for({"--jsn", "debug", "enable", "--tags", "x"}) == "did you mean '--json'?");
  CHECK(hint_for({"get", "a", "--tag"}).empty());  // an option of another command
}

TEST_CASE("near_words: an argument too many is no misspelt command", "[hint][command_line]") {
  CHECK(hint_for({"get", "a", "gett"}).empty());
  CHECK(hint_for({"get"}).empty());
}
