// SPDX-License-Identifier: Apache-2.0
// Rules as a whole: the golden table of 100 rules by 50 sites, the same rules for calls that are no sites,
// random lists against a slow obvious reference, and what a change costs.
#include <telltale/diag/debug_control.h>
#include <telltale/diag/site.h>
#include <telltale/diag/site_list.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "lib/diag/src/rule_list.h"
#include "lib/diag/src/site_dictionary.h"
#include "tests/unit/diag/debug_state.h"
#include "tests/unit/diag/made_module.h"

namespace telltale::diag {
namespace {

struct TableSite {
  const char* tag;
  const char* file;
  const char* function;
  unsigned line;
  int module;
  const char* text;
};
struct TableRow {
  std::string on;
  std::string rules;
};

const std::vector<TableSite> kTableSites{
#define SITE(...) {__VA_ARGS__},
#define RULES(...)
#include "rule_table.inc"
#undef SITE
#undef RULES
};
const std::vector<TableRow> kTableRows{
#define SITE(...)
#define RULES(...) {__VA_ARGS__},
#include "rule_table.inc"
#undef SITE
#undef RULES
};

// The 50 sites, in two modules: this program, and the library (whose name any address in it gives).
struct Table {
  Table() {
    for (const TableSite& site : kTableSites) {
      (site.module == 0 ? own : library).add({site.tag, site.text, site.file, site.function, site.line, false});
    }
    own.load(&kTableSites);
    library.load(reinterpret_cast<const void*>(&set_base));
  }
  // 'x' for each site that is on.
  std::string on() const {
    std::string row;
    std::size_t next[2] = {0, 0};
    for (const TableSite& site : kTableSites) {
      const MadeModule& module = site.module == 0 ? own : library;
      row += module.hot(next[site.module]++) != 0 ? 'x' : '.';
    }
    return row;
  }
  MadeModule own, library;
};

}  // namespace

TEST_CASE("Rule table: 100 rules say of 50 sites what is written", "[diag][rule]") {
  CleanDebug clean;
  REQUIRE(kTableSites.size() == 50);
  REQUIRE(kTableRows.size() == 100);
  Table table;
  for (const TableRow& row : kTableRows) {
    CAPTURE(row.rules);
    REQUIRE(set_base({Mode::kOn, "no_tag_of_any_site", "", row.rules}));
    CHECK(table.on() == row.on);
    REQUIRE(set_base({}));
    CHECK(table.on().find('x') == std::string::npos);
  }
}

TEST_CASE("Rule table: code that is loaded while rules are in force obeys them from its first moment", "[diag][rule]") {
  CleanDebug clean;
  for (const TableRow& row : kTableRows) {
    CAPTURE(row.rules);
    REQUIRE(set_base({Mode::kOn, "no_tag_of_any_site", "", row.rules}));
    Table table;
    CHECK(table.on() == row.on);
  }
}

TEST_CASE("Rule table: calls that name their tag at run time obey the same rules, by their place", "[diag][rule]") {
  CleanDebug clean;
  Table table;
  for (const TableRow& row : kTableRows) {
    CAPTURE(row.rules);
    REQUIRE(set_base({Mode::kOn, "no_tag_of_any_site", "", row.rules}));
    std::string controls, strings;
    for (const TableSite& site : kTableSites) {
      Place place{site.file, site.function, site.text, site.line,
                  site.module == 0 ? &table.own.module() : &table.library.module()};
      RuntimeControl control(site.tag);
      controls += control.on_at(place) ? 'x' : '.';
      strings += string_tag_wanted_at(site.tag, place, false) ? 'x' : '.';
      // The question without a place is never answered no where some place is on.
      if (controls.back() == 'x') CHECK(control.on());
    }
    CHECK(controls == row.on);
    CHECK(strings == row.on);
  }
}

TEST_CASE("Rules: random lists, in the base and in leases, leave on what each source by itself says", "[diag][rule]") {
  CleanDebug clean;
  Table table;
  std::mt19937 random(11);
  auto pick = [&] {
    std::string rules;
    for (unsigned n = 1 + random() % 4; n > 0; --n) rules += kTableRows[random() % kTableRows.size()].rules + ";";
    return rules;
  };
  // Slow and obvious: every rule of every list against every site, by itself.
  auto says = [&](const std::string& rules, const TableSite& site) {
    auto list = parse_rules(rules);
    REQUIRE(list);
    bool on = false;
    for (const Rule& rule : *list) {
      bool all = true;
      int error = 0;
      Subject subject{site.tag,  site.file, site.function, site.module == 0 ? "unit_diag" : "libtelltale-diag.so",
                      site.text, site.line};
      for (std::size_t key = 0; key < kRuleKeys; ++key) {
        if (rule.has(static_cast<RuleKey>(key)) && !rule.matches(static_cast<RuleKey>(key), subject, error))
          all = false;
      }
      if (all) on = !rule.excludes;
    }
    return on;
  };
  for (int round = 0; round < 60; ++round) {
    std::vector<std::string> lists{pick()};
    REQUIRE(set_base({Mode::kOn, "no_tag_of_any_site", "", lists[0]}));
    end_leases();
    for (unsigned n = random() % 3; n > 0; --n) {
      lists.push_back("tag=nothing;" + pick());
      REQUIRE(open_lease({"", "", true, lists.back()}));
    }
    std::string expected;
    for (const TableSite& site : kTableSites) {
      bool on = std::any_of(lists.begin(), lists.end(), [&](const std::string& list) { return says(list, site); });
      expected += on ? 'x' : '.';
    }
    CAPTURE(lists);
    CHECK(table.on() == expected);
  }
}

TEST_CASE("Rules: the pattern of tags is the first of them", "[diag][rule]") {
  CleanDebug clean;
  Table table;
  REQUIRE(set_base({Mode::kOn, "rt.cache", "", "-text=failed; file=hooks.cc"}));
  std::string by_tags = table.on();
  REQUIRE(set_base({Mode::kOn, "no_tag", "", "tag=rt.cache; -text=failed; file=hooks.cc"}));
  CHECK(table.on() == by_tags);
  CHECK(by_tags.find('x') != std::string::npos);
}

TEST_CASE("Rules: the answer to a lease counts the sites it has on, and names their tags", "[diag][rule]") {
  CleanDebug clean;
  Table table;
  auto sites_on = [](const char* rules) {
    auto lease = open_lease({"", "", false, rules});
    REQUIRE(lease);
    return std::pair(lease->sites_on, lease->tags_on);
  };
  auto before = sites_on("file=rt/http2/*; -text=stream").first;  // calls of other tests that had their place there
  {
    Table again;
    CHECK(sites_on("file=rt/http2/*; -text=stream").first == before);  // the same sites, loaded twice
  }
  MadeModule module;
  module.add({"rt.new", "new {}", "rt/http2/new.cc", "run", 1, false});
  module.add({"rt.new", "new stream {}", "rt/http2/new.cc", "run", 2, false});
  module.load(&kTableSites);
  auto after = sites_on("file=rt/http2/*; -text=stream");
  CHECK(after.first == before + 1);
  CHECK(after.second == std::vector<std::string>{"rt.http2", "rt.new"});
}

}  // namespace telltale::diag
