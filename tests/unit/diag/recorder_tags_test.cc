// SPDX-License-Identifier: Apache-2.0
// What is armed for the flight recorder: in every mode, whatever leases come and go, and without output.
#include <catch2/catch.hpp>

#include <string>

#include <telltale/diag/dbg.h>
#include <telltale/diag/recorder.h>
#include <telltale/diag/site_list.h>

#include "debug_state.h"

using namespace telltale::diag;

namespace {

constexpr DbgCtl armed_dbg{"armed_site"};

struct Disarmed {
  ~Disarmed() { (void)set_recorder_tags(""); }
};

SiteIs state_of_site() {
  auto list = sites({.tags = "armed_site$"});
  REQUIRE(list);
  REQUIRE(list->sites.size() == 1);
  return list->sites[0].state;
}

}  // namespace

TEST_CASE("recorder tags: arm in every mode, and no lease or mode that comes or goes disarms", "[diag][recorder]") {
  CleanDebug clean;
  Disarmed disarmed;
  RuntimeControl armed("armed_control"), other("other_control");
  REQUIRE(set_recorder_tags("armed"));
  CHECK(recorder_tags() == "armed");
  auto check = [&] {
    CHECK(armed.on());
    CHECK_FALSE(other.on());
    CHECK(string_tag_wanted("armed_string", false));
    CHECK_FALSE(string_tag_wanted("other_string", false));
    CHECK(state_of_site() == SiteIs::kRecorded);
  };
  check();
  for (Mode mode : {Mode::kOn, Mode::kOnForClients, Mode::kOnControlsOnly, Mode::kOff}) {
    REQUIRE(set_base({mode, "nothing_else", ""}));
    check();
  }
  REQUIRE(open_lease({"nothing_else", ""}));
  check();
  REQUIRE(open_lease({"armed_site", "", true}));
  CHECK(state_of_site() == SiteIs::kOn);
  CHECK(end_leases() == 2);
  check();
  all_off();
  check();
  RuntimeControl late("armed_late");
  CHECK(late.on());
  REQUIRE(set_recorder_tags(""));
  CHECK_FALSE((armed.on() || late.on() || string_tag_wanted("armed_string", false)));
  CHECK(state_of_site() == SiteIs::kOff);
}

TEST_CASE("recorder tags: a bad pattern is refused with its offset, and the old one stays", "[diag][recorder]") {
  CleanDebug clean;
  Disarmed disarmed;
  RuntimeControl armed("armed_control");
  REQUIRE(set_recorder_tags("armed"));
  auto refused = set_recorder_tags("armed|(");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().offset == 7);
  CHECK(recorder_tags() == "armed");
  CHECK(armed.on());
}

TEST_CASE("recorder tags: a line that is only armed charges no lease and is no hit", "[diag][recorder]") {
  CleanDebug clean;
  Disarmed disarmed;
  REQUIRE(set_recorder_tags("armed_site"));
  auto lease = open_lease({.tags = "armed_site", .client_ip = "192.0.2.1", .max_lines = 5});
  REQUIRE(lease);
  const std::uint64_t hits = sites({.tags = "armed_site$"})->sites[0].hits;
  for (int i = 0; i < 10; ++i) Dbg(armed_dbg, "line {}", i);
  CHECK(leases()[0].lines == 0);
  CHECK(sites({.tags = "armed_site$"})->sites[0].hits == hits);
}
