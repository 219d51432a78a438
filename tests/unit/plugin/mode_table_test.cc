// SPDX-License-Identifier: Apache-2.0
// The table of modes, written out: what prints and what is silent, for every debug flavour, in the core and in a
// plugin, for a client inside and outside client_ip and for none.
#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include <telltale/diag/dbg.h>
#include <telltale/diag/debug_control.h>
#include <telltale/diag/scope.h>

#include "tests/unit/diag/output_capture.h"
#include "tests/unit/plugin/loaded.h"

namespace telltale::plugin::test {
namespace {

using diag::Mode;

constexpr DbgCtl on_dbg{"flavour.on"};
constexpr DbgCtl other_dbg{"flavours_not"};

int core_evaluated = 0;

// What a flavour is to the table.
enum Form { kControl, kControlOther, kControlFlag, kControlOtherFlag, kString, kStringOther, kStringFlag, kStringOtherFlag, kForms };

enum Who { kInside, kOutside, kNobody };
constexpr std::array<std::string_view, 3> kWho{"inside client_ip", "outside client_ip", "no client"};

struct Row {
  Mode mode;
  Who who;
  std::array<bool, kForms> prints;
};
//                                      control               string
//                                      tag on  other | flag: on other   tag on  other | flag: on other
constexpr std::array kTable{
    Row{Mode::kOff, kInside,           {false, false,   false, false,    false, false,   false, false}},
    Row{Mode::kOff, kOutside,          {false, false,   false, false,    false, false,   false, false}},
    Row{Mode::kOff, kNobody,           {false, false,   false, false,    false, false,   false, false}},
    Row{Mode::kOn, kInside,            {true,  false,   true,  true,     true,  false,   true,  true}},
    Row{Mode::kOn, kOutside,           {true,  false,   true,  true,     true,  false,   true,  true}},
    Row{Mode::kOn, kNobody,            {true,  false,   true,  true,     true,  false,   true,  true}},
    Row{Mode::kOnForClients, kInside,  {true,  false,   true,  true,     true,  false,   true,  true}},
    Row{Mode::kOnForClients, kOutside, {false, false,   false, false,    false, false,   false, false}},
    Row{Mode::kOnForClients, kNobody,  {false, false,   false, false,    false, false,   false, false}},
    Row{Mode::kOnControlsOnly, kInside,  {true, false,  true,  true,     false, false,   false, false}},
    Row{Mode::kOnControlsOnly, kOutside, {true, false,  true,  true,     false, false,   false, false}},
    Row{Mode::kOnControlsOnly, kNobody,  {true, false,  true,  true,     false, false,   false, false}},
};

struct Flavour {
  std::string name;
  Form form;
  std::function<int()> run;  // how many arguments were evaluated so far
};

std::vector<Flavour> core() {
  return {
      {"core Dbg", kControl, [] { Dbg(on_dbg, "core {}", ++core_evaluated); return core_evaluated; }},
      {"core Dbg", kControlOther, [] { Dbg(other_dbg, "core {}", ++core_evaluated); return core_evaluated; }},
      {"core SpecificDbg(false)", kControl, [] { SpecificDbg(false, on_dbg, "core {}", ++core_evaluated); return core_evaluated; }},
      {"core SpecificDbg(false)", kControlOther, [] { SpecificDbg(false, other_dbg, "core {}", ++core_evaluated); return core_evaluated; }},
      {"core SpecificDbg(true)", kControlFlag, [] { SpecificDbg(true, on_dbg, "core {}", ++core_evaluated); return core_evaluated; }},
      {"core SpecificDbg(true)", kControlOtherFlag, [] { SpecificDbg(true, other_dbg, "core {}", ++core_evaluated); return core_evaluated; }},
  };
}

void add(std::vector<Flavour>& all, std::string name, Loaded& plugin, const char* function, Form on, Form other) {
  all.push_back({name, on, [&plugin, function] { return plugin.run(function, false); }});
  all.push_back({name, other, [&plugin, function] { return plugin.run(function, true); }});
}
void add_specific(std::vector<Flavour>& all, std::string name, Loaded& plugin, const char* function, Form on, Form other,
                  Form on_flag, Form other_flag) {
  all.push_back({name + "(false)", on, [&plugin, function] { return plugin.run(function, false, false); }});
  all.push_back({name + "(false)", other, [&plugin, function] { return plugin.run(function, true, false); }});
  all.push_back({name + "(true)", on_flag, [&plugin, function] { return plugin.run(function, false, true); }});
  all.push_back({name + "(true)", other_flag, [&plugin, function] { return plugin.run(function, true, true); }});
}

constexpr std::array<std::uint8_t, 16> address(std::uint8_t last) {
  return {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 10, 0, 0, last};
}

}  // namespace

TEST_CASE("Modes: each flavour prints and is silent as the table says, in the core and in plugins", "[plugin][modes]") {
  Loaded flavours("ts_flavours"), sites("ts_sites");
  std::vector<Flavour> all = core();
  for (const char* function : {"run_dbg", "run_tsdbg"}) add(all, function, flavours, function, kControl, kControlOther);
  for (const char* function : {"run_tsdebug", "run_tag_set"}) add(all, function, flavours, function, kString, kStringOther);
  for (const char* function : {"run_member", "run_local", "run_template", "run_dbg_print"}) {
    all.push_back({function, kControl, [&flavours, function] { return flavours.run(function); }});
  }
  add_specific(all, "SpecificDbg", flavours, "run_specific_dbg", kControl, kControlOther, kControlFlag, kControlOtherFlag);
  add_specific(all, "TSDebugSpecific", flavours, "run_tsdebug_specific", kString, kStringOther, kStringFlag, kStringOtherFlag);
  add(all, "TELLTALE_SITES Dbg", sites, "run_dbg", kControl, kControlOther);
  add_specific(all, "TELLTALE_SITES SpecificDbg", sites, "run_specific_dbg", kControl, kControlOther, kControlFlag, kControlOtherFlag);

  diag::Client inside{address(7), {}, {}}, outside{address(8), {}, {}};
  diag::Capture capture;
  for (const Row& row : kTable) {
    REQUIRE(diag::set_base({row.mode, "flavour\\.", "10.0.0.7"}));
    diag::Context context;
    context.connection = 1;
    context.client = row.who == kInside ? &inside : row.who == kOutside ? &outside : nullptr;
    diag::Scope scope(row.who == kNobody ? nullptr : &context);
    for (const Flavour& flavour : all) {
      INFO("mode " << static_cast<int>(row.mode) << ", " << kWho[row.who] << ", " << flavour.name << ", form " << flavour.form);
      int before = flavour.run();
      capture.text();
      bool evaluated = flavour.run() != before;
      CHECK(capture.lines().size() == (row.prints[flavour.form] ? 1 : 0));
      CHECK(evaluated == row.prints[flavour.form]);
    }
  }
  REQUIRE(diag::set_base({}));
}

TEST_CASE("Modes: a locked-on transaction prints Specific lines, of plugins too, wherever debug is on at all", "[plugin][modes]") {
  Loaded flavours("ts_flavours"), sites("ts_sites");
  diag::Capture capture;
  diag::Context context;
  context.transaction = 9;
  context.locked_on = true;
  diag::Scope scope(&context);
  for (bool on : {false, true}) {
    REQUIRE(diag::set_base(on ? diag::Base{Mode::kOn, "nothing_of_this_name", ""} : diag::Base{}));
    flavours.run("run_specific_dbg", false, false);
    sites.run("run_specific_dbg", false, false);
    flavours.run("run_tsdebug_specific", false, false);
    SpecificDbg(false, on_dbg, "core");
    flavours.run("run_dbg", false);
    CHECK(capture.lines().size() == (on ? 4 : 0));
  }
  REQUIRE(diag::set_base({}));
}

TEST_CASE("Plugin lines: those of a plugin built with the first ts/ts.h come as ever (AC-03)", "[plugin][modes]") {
  Loaded frozen("ts_frozen");
  diag::Capture capture;
  CHECK(frozen.run("run_frozen") == 0);
  REQUIRE(diag::set_base({Mode::kOn, "frozen", ""}));
  CHECK(frozen.run("run_frozen") == 4);
  const std::vector<std::string> lines = capture.lines();
  REQUIRE(lines.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    constexpr const char* kEnds[] = {"DEBUG (frozen.member) <frozen.c:10 (run)> frozen.member 1", "DEBUG (frozen.member) <frozen.c:11 (run)> specific 2",
                                     "DEBUG (frozen.created) <frozen.c:12 (run)> created 3", "DEBUG (frozen.string) <frozen.c:13 (run)> string 4"};
    CHECK_THAT(lines[i], Catch::EndsWith(kEnds[i]));
  }
  REQUIRE(diag::set_base({Mode::kOn, "frozen\\.created", ""}));
  CHECK(frozen.run("run_frozen") == 6);  // and the Specific line
  REQUIRE(diag::set_base({}));
  CHECK(frozen.run("run_frozen") == 6);
}

TEST_CASE("Plugin lines: carry place, tag and text as printf writes it", "[plugin]") {
  Loaded flavours("ts_flavours");
  diag::Capture capture;
  REQUIRE(diag::set_base({Mode::kOn, "flavour", ""}));
  int n = flavours.run("run_dbg", false);
  std::string line = capture.text();
  CHECK(line.find("DEBUG (flavour.on) <tests/support/ts_plugin/flavours.cc:") != std::string::npos);
  CHECK(line.find("(run_dbg)> dbg " + std::to_string(n) + "\n") != std::string::npos);
  REQUIRE(diag::set_base({}));
}

}  // namespace telltale::plugin::test
