// SPDX-License-Identifier: Apache-2.0
// A plugin that comes and goes: its lines, tags and controls, and what is left of it.
#include <chrono>
#include <string>

#include <catch2/catch.hpp>

#include <telltale/diag/debug_control.h>
#include <telltale/diag/output.h>

#include "plugin/plugin_scope.h"
#include "tests/unit/diag/debug_state.h"
#include "tests/unit/diag/output_capture.h"
#include "tests/unit/plugin/loaded.h"

namespace telltale::plugin::test {

TEST_CASE("Unload: static initialisers and destructors of a plugin speak, in its name", "[plugin][unload]") {
  diag::Capture capture;
  REQUIRE(diag::set_base({diag::Mode::kOn, "flavour", ""}));
  {
    PluginScope scope(&plugin_of("ts_flavours"));
    Loaded plugin("ts_flavours");
  }
  std::string text = capture.text();
  for (const char* part : {"{ts_flavours} static initialiser\n", "{ts_flavours} static initialiser by name\n",
                           "{ts_flavours} static destructor\n", "{ts_flavours} static destructor by name\n"}) {
    CHECK(text.find(part) != std::string::npos);
  }
  REQUIRE(diag::set_base({}));
}

TEST_CASE("Unload: a plugin with the default visibility is gone from memory, and its tags are not", "[plugin][unload]") {
  diag::CleanDebug clean;
  {
    Loaded plugin("ts_flavours");
    CHECK(mapped("ts_flavours.so"));
    plugin.run("run_dbg", false);
  }
  CHECK_FALSE(mapped("ts_flavours.so"));
  for (const char* pattern : {"other", "flavour", ".*"}) CHECK(diag::set_base({diag::Mode::kOn, pattern, ""}));
  CHECK(diag::tag_state("flavour.on").on);
}

TEST_CASE("Unload: lines written just before a plugin is unloaded come out whole", "[plugin][unload]") {
  diag::Capture capture;
  REQUIRE(diag::set_base({diag::Mode::kOn, "flavour", ""}));
  {
    Loaded plugin("ts_flavours");
    for (int i = 0; i < 500; ++i) plugin.run("run_tsdebug", false);
  }
  REQUIRE_FALSE(mapped("ts_flavours.so"));
  std::string text = capture.text();
  CHECK(text.find("> tsdebug 1\n") != std::string::npos);
  CHECK(text.find("> tsdebug 500\n") != std::string::npos);
  REQUIRE(diag::set_base({}));
}

TEST_CASE("Unload: loaded a hundred times while what is on changes, it takes no more room than once", "[plugin][unload]") {
  diag::CleanDebug clean;
  { Loaded once("ts_flavours"); }
  std::size_t tags = diag::tags().size();
  int wrong = 0;
  for (int i = 0; i < 100; ++i) {
    bool on = i % 2 == 0;
    if (!diag::set_base({diag::Mode::kOn, on ? "flavour\\." : "other", ""})) ++wrong;
    Loaded plugin("ts_flavours");
    if (plugin.run("run_dbg", false) != (on ? 1 : 0)) ++wrong;
    if (plugin.run("run_tsdbg", false) != (on ? 2 : 0)) ++wrong;
    if (plugin.run("run_tsdebug", false) != (on ? 3 : 0)) ++wrong;
  }
  CHECK(wrong == 0);
  CHECK(diag::tags().size() == tags);
}

}  // namespace telltale::plugin::test
