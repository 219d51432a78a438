// SPDX-License-Identifier: Apache-2.0
#include <telltale/diag/dbg.h>
#include <telltale/diag/debug_control.h>
#include <telltale/diag/scope.h>

#include <string>

#include <catch2/catch.hpp>

#include "tests/unit/diag/debug_state.h"

namespace telltale::diag {
namespace {

constexpr DbgCtl hit_dbg{"test_mode_hit"};
constexpr DbgCtl miss_dbg{"test_mode_miss"};

template <class Line>
bool evaluated(Line line) {
  bool was = false;
  line(was);
  return was;
}
bool yes(bool& was) { return was = true; }

// All ways to ask, each for the tag that matches and for the one that does not.
bool dbg(bool hit) {
  return evaluated([hit](bool& was) {
    if (hit) {
      Dbg(hit_dbg, "{}", yes(was));
    } else {
      Dbg(miss_dbg, "{}", yes(was));
    }
  });
}
bool specific_dbg(bool hit, bool flag) {
  return evaluated([hit, flag](bool& was) {
    if (hit) {
      SpecificDbg(flag, hit_dbg, "{}", yes(was));
    } else {
      SpecificDbg(flag, miss_dbg, "{}", yes(was));
    }
  });
}
bool control(bool hit, bool flag) {
  static RuntimeControl hit_control("test_mode_hit"), miss_control("test_mode_miss");
  return (hit ? hit_control : miss_control).on(flag);
}
bool string_tag(bool hit, bool flag) { return string_tag_wanted(hit ? "test_mode_hit" : "test_mode_miss", flag); }

enum class Where { kOutsideAnyScope, kNoClient, kOtherClient, kClient };

struct Row {
  Mode mode;
  Where where;
  bool match;             // control and string tag that match
  bool string_match;
  bool flag;              // Specific forms with their flag, whatever the tag
  bool string_flag;
};

// DESIGN, section 3.
constexpr Row kTable[] = {
    {Mode::kOff, Where::kOutsideAnyScope, false, false, false, false},
    {Mode::kOff, Where::kNoClient, false, false, false, false},
    {Mode::kOff, Where::kOtherClient, false, false, false, false},
    {Mode::kOff, Where::kClient, false, false, false, false},
    {Mode::kOn, Where::kOutsideAnyScope, true, true, true, true},
    {Mode::kOn, Where::kNoClient, true, true, true, true},
    {Mode::kOn, Where::kOtherClient, true, true, true, true},
    {Mode::kOn, Where::kClient, true, true, true, true},
    {Mode::kOnForClients, Where::kOutsideAnyScope, false, false, false, false},
    {Mode::kOnForClients, Where::kNoClient, false, false, false, false},
    {Mode::kOnForClients, Where::kOtherClient, false, false, false, false},
    {Mode::kOnForClients, Where::kClient, true, true, true, true},
    {Mode::kOnControlsOnly, Where::kOutsideAnyScope, true, false, true, false},
    {Mode::kOnControlsOnly, Where::kNoClient, true, false, true, false},
    {Mode::kOnControlsOnly, Where::kOtherClient, true, false, true, false},
    {Mode::kOnControlsOnly, Where::kClient, true, false, true, false},
};

Client client_at(std::array<std::uint8_t, 4> v4) {
  return Client{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, v4[0], v4[1], v4[2], v4[3]}};
}

void check_row(const Row& row, bool locked_on) {
  Client client{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 7}};
  Client other{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 8}};
  Context context{.locked_on = locked_on};
  if (row.where == Where::kOtherClient) context.client = &other;
  if (row.where == Where::kClient) context.client = &client;
  Scope scope(row.where == Where::kOutsideAnyScope ? nullptr : &context);
  bool locked = locked_on && row.where != Where::kOutsideAnyScope;

  CAPTURE(row.mode, row.where, locked_on);
  CHECK(dbg(true) == row.match);
  CHECK(dbg(false) == false);
  CHECK(specific_dbg(true, false) == row.match);
  CHECK(specific_dbg(false, false) == (locked && row.flag));
  CHECK(specific_dbg(true, true) == row.flag);
  CHECK(specific_dbg(false, true) == row.flag);
  CHECK(control(true, false) == row.match);
  CHECK(control(false, false) == false);
  CHECK(control(true, true) == row.flag);
  CHECK(control(false, true) == row.flag);
  CHECK(string_tag(true, false) == row.string_match);
  CHECK(string_tag(false, false) == false);
  CHECK(string_tag(true, true) == row.string_flag);
  CHECK(string_tag(false, true) == row.string_flag);
}

}  // namespace

TEST_CASE("Modes: every form of a debug line is on where the table of modes says so", "[diag][mode]") {
  CleanDebug clean;
  for (const Row& row : kTable) {
    REQUIRE(set_base({row.mode, "test_mode_hit", "192.0.2.7"}));
    check_row(row, false);
    check_row(row, true);
  }
}

TEST_CASE("Modes: a lease for all clients is a row of mode 1, one with clients of mode 2, whatever the base", "[diag][mode]") {
  CleanDebug clean;
  for (Mode base : {Mode::kOff, Mode::kOnForClients}) {
    REQUIRE(set_base({base, "no_such_tag", "203.0.113.1"}));
    for (Mode mode : {Mode::kOn, Mode::kOnForClients}) {
      REQUIRE(open_lease({"test_mode_hit", mode == Mode::kOn ? "" : "192.0.2.0/29"}));
      for (const Row& row : kTable) {
        if (row.mode != mode || row.where == Where::kOtherClient) continue;
        check_row(row, false);
        check_row(row, true);
      }
    }
    end_leases();
  }
}

TEST_CASE("Modes: in mode 2 without any client, everything is off", "[diag][mode]") {
  CleanDebug clean;
  REQUIRE(set_base({Mode::kOnForClients, "test_mode_hit", ""}));
  Client client = client_at({192, 0, 2, 7});
  Context context{.client = &client, .locked_on = true};
  Scope scope(&context);
  CHECK_FALSE(dbg(true));
  CHECK_FALSE(specific_dbg(true, true));
  CHECK_FALSE(control(true, true));
  CHECK_FALSE(string_tag(true, true));
  CHECK_FALSE(tag_state("test_mode_hit").on);
}

TEST_CASE("Modes: a mode that does not exist is refused, and the former one stays", "[diag][mode]") {
  CleanDebug clean;
  REQUIRE(set_base({Mode::kOn, "test_mode_hit", ""}));
  for (int mode : {-1, 4, 99}) {
    auto refused = set_base({static_cast<Mode>(mode), "test_mode_hit", ""});
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.error().what, Catch::Contains("expected 0, 1, 2 or 3"));
  }
  CHECK(base().mode == Mode::kOn);
  CHECK(dbg(true));
}

TEST_CASE("Modes: each module knows whether a string tag may be on", "[diag][mode]") {
  CleanDebug clean;
  auto strings_on = [] { return module_registration.module.string_tags_on.load(); };
  CHECK(strings_on() == 0);
  REQUIRE(set_base({Mode::kOn, "x", ""}));
  CHECK(strings_on() == 1);
  REQUIRE(set_base({Mode::kOnControlsOnly, "x", ""}));
  CHECK(strings_on() == 0);
  REQUIRE(open_lease({"y", "127.0.0.1"}));
  CHECK(strings_on() == 1);
  end_leases();
  CHECK(strings_on() == 0);
}

}  // namespace telltale::diag
