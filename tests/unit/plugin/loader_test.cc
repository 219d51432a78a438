// SPDX-License-Identifier: Apache-2.0
// plugin.config, and what happens to plugins that cannot be used.
#include "plugin/loader.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "config/problem.h"
#include "plugin/plugin_config.h"
#include "tests/unit/diag/output_capture.h"

namespace telltale::plugin::test {
namespace {

const std::filesystem::path kDir = TELLTALE_TEST_PLUGINS;

std::vector<std::string> sentences(const config::Problems& problems) {
  std::vector<std::string> all;
  for (const config::Problem& problem : problems) all.push_back(config::to_string(problem));
  return all;
}
std::vector<PluginLine> parsed(const std::string& text) {
  auto lines = parse_plugin_config(text, "plugin.config", kDir);
  if (!lines) FAIL(config::to_string(lines.error().front()));
  return *lines;
}
std::vector<std::string> refused(const std::string& text) {
  auto lines = parse_plugin_config(text, "plugin.config", kDir);
  REQUIRE_FALSE(lines);
  return sentences(lines.error());
}
std::string load_one(const std::string& text) {
  txn::HookTable hooks;
  config::Problems problems = load_plugins(parsed(text), kDir, hooks);
  return problems.empty() ? std::string() : config::to_string(problems.front());
}

}  // namespace

TEST_CASE("plugin.config: words, quotes and comments are read as Traffic Server reads them", "[plugin][config]") {
  auto lines = parsed(
      "# a comment\n"
      "\n"
      "  ts_sites.so\tone \"two words # no comment\" \"\" four#comment\r\n" +
      (kDir / "ts_flavours.so").string() + "   # no arguments");
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].line == 3);
  CHECK(lines[0].path == (kDir / "ts_sites.so").string());
  CHECK(lines[0].name == "ts_sites");
  CHECK(lines[0].arguments == std::vector<std::string>{"one", "two words # no comment", "", "four"});
  CHECK(lines[1].path == (kDir / "ts_flavours.so").string());
  CHECK(lines[1].arguments.empty());
  CHECK(parsed("# none\n").empty());
}

TEST_CASE("plugin.config: everything that is wrong is named with its place", "[plugin][config]") {
  std::ofstream(kDir / "text_not_library.so") << "text";
  auto found = refused(
      "ts_sites.so \"not closed\n"
      "no_such.so\n"
      "ts_sites.so ok $proxy.config.x\n"
      "../tests\n"
      "text_not_library.so\n"
      "\"\"\n");
  REQUIRE(found.size() == 6);
  CHECK(found[0] == "plugin.config:1:13: a quote that is not closed; expected \" at the end of the argument");
  CHECK(found[1].starts_with("plugin.config:2:1: plugin \"no_such.so\" cannot be used: "));
  CHECK(found[1].ends_with("No such file or directory; expected PLUGIN.so [ARGUMENT ...]"));
  CHECK(found[2] == "plugin.config:3:16: a record's value as an argument is not offered; expected the value itself");
  CHECK(found[3].find("it is no regular file") != std::string::npos);
  CHECK(found[4].find("it is no shared library") != std::string::npos);
  CHECK(found[5].find("there is no name") != std::string::npos);
}

TEST_CASE("plugin.config: takes 64 plugins with 64 arguments each, and not one more", "[plugin][config]") {
  std::string line = "ts_sites.so";
  for (int i = 0; i < 64; ++i) line += " a";
  std::string all;
  for (int i = 0; i < 64; ++i) all += line + "\n";
  CHECK(parsed(all).size() == 64);
  CHECK(refused(all + "ts_sites.so\n").front() == "plugin.config:65: one plugin too many; expected 64 plugins at most");
  CHECK(refused(line + " b\n").front() == "plugin.config:1:141: one argument too many; expected 64 arguments at most");
}

TEST_CASE("plugin.config: a folder without it has no plugins, and a record names their folder", "[plugin][config]") {
  CHECK(read_plugin_config("/nonexistent-folder", kDir)->empty());
  CHECK(plugin_folder("/x/y") == "/x/y");
  CHECK(plugin_folder("").filename() == "plugins");
}

TEST_CASE("Loader: a plugin that cannot be used is refused with the reason, and no exception comes out", "[plugin][load]") {
  diag::Capture capture;
  CHECK(load_one("ts_bad_no_init.so\n") ==
        "plugin.config:1:1: plugin ts_bad_no_init: it has no TSPluginInit; expected void TSPluginInit(int argc, const char *argv[]) with C linkage");
  CHECK(load_one("\nts_bad_not_registered.so\n") ==
        "plugin.config:2:1: plugin ts_bad_not_registered: it did not call TSPluginRegister; expected a plugin that says who it is");
  CHECK(load_one("ts_bad_throws_at_start.so\n") ==
        "plugin.config:1:1: plugin ts_bad_throws_at_start: an exception came out of TSPluginInit; expected none");
  CHECK(capture.text().find("{ts_bad_throws_at_start} TSPluginInit: an exception came out of the plugin: no licence\n") != std::string::npos);
  CHECK(load_one("ts_bad_undefined_symbol.so\n") ==
        "plugin.config:1:1: plugin ts_bad_undefined_symbol: it needs TSTransformCreate, which is not offered; expected a plugin that uses what ts/ts.h declares");
  CHECK(hooks_being_loaded() == nullptr);
}

}  // namespace telltale::plugin::test
