// SPDX-License-Identifier: Apache-2.0
#include <telltale/diag/dbg.h>
#include <telltale/diag/debug_control.h>
#include <telltale/diag/scope.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "lib/diag/src/site_dictionary.h"
#include "lib/diag/src/tag_table.h"
#include "tests/unit/diag/allocation_counter.h"
#include "tests/unit/diag/debug_state.h"

namespace telltale::diag {
namespace {

constexpr DbgCtl plain_dbg{"test_site.plain"};
constexpr DbgCtl never_dbg{"test_site.never"};
constexpr DbgCtl inline_dbg{"test_site.inline"};
constexpr DbgCtl template_dbg{"test_site.template"};
constexpr DbgCtl early_dbg{"test_site.early"};
constexpr DbgCtl crowd_dbg{"test_site.crowd"};

// Counts how often it was asked for its value.
struct Asked {
  int& count;
  int operator()() const { return ++count; }
};

inline void inline_line(Asked argument) { Dbg(inline_dbg, "inline {}", argument()); }
template <class T>
void template_line(T, Asked argument) {
  Dbg(template_dbg, "template {}", argument());
}
void every_kind_of_line(int& asked) {
  Asked argument{asked};
  Dbg(plain_dbg, "plain {}", argument());
  SpecificDbg(false, plain_dbg, "specific {}", argument());
  inline_line(argument);
  template_line(1, argument);
  template_line("x", argument);
  auto lambda = [&](auto) { Dbg(plain_dbg, "lambda {}", argument(), field("n", argument())); };
  lambda(1);
}
constexpr int kArguments = 7;

// Sites that run before, and while, the program's static constructors do.
int early_lines = 0;
__attribute__((constructor(101))) void before_every_constructor() { Dbg(early_dbg, "constructor(101) {}", ++early_lines); }
struct Early {
  Early() { Dbg(early_dbg, "static constructor {}", ++early_lines); }
};
Early early;
inline Early inline_early;

[[gnu::used]] void never_called() { Dbg(never_dbg, "never"); }

std::vector<const SiteEntry*> entries_of(std::string_view tag) {
  std::vector<const SiteEntry*> entries;
  for (std::uint32_t number = 1; number <= site_count(); ++number) {
    const SiteEntry* entry = site_by_number(number);
    if (tag_by_number(entry->tag->number)->name == tag) entries.push_back(entry);
  }
  return entries;
}

}  // namespace

TEST_CASE("Site: arguments of a disabled site are not evaluated", "[diag][site]") {
  CleanDebug clean;
  Client inside, outside;
  inside.address = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1};
  outside.address = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 2};
  Context with_outside{.client = &outside};
  int asked = 0;

  SECTION("debug is off") {}
  SECTION("debug is on and the tag does not match") { REQUIRE(set_base({Mode::kOn, "test_other", ""})); }
  SECTION("debug is on for another client") { REQUIRE(set_base({Mode::kOnForClients, "test_site", "127.0.0.1"})); }
  SECTION("a lease is open for another client") {
    REQUIRE(open_lease({"test_site", "127.0.0.1"}));
  }
  Scope scope(&with_outside);
  for (int i = 0; i < 1'000'000 / kArguments; ++i) every_kind_of_line(asked);
  CHECK(asked == 0);

  end_leases();
  REQUIRE(set_base({Mode::kOn, "test_site", ""}));
  every_kind_of_line(asked);
  CHECK(asked == kArguments);
}

TEST_CASE("Site: a disabled site allocates nothing, and neither does the question whether one is wanted", "[diag][site]") {
  CleanDebug clean;
  int asked = 0;
  Client client;
  Context context{.client = &client};
  Scope scope(&context);
  auto allocations = [&] {
    std::uint64_t before = allocations_of_this_thread();
    for (int i = 0; i < 1'000'000 / kArguments; ++i) every_kind_of_line(asked);
    return allocations_of_this_thread() - before;
  };
  CHECK(allocations() == 0);
  REQUIRE(set_base({Mode::kOn, "nothing_like_it", ""}));
  CHECK(allocations() == 0);
  REQUIRE(set_base({Mode::kOnForClients, "test_site", "10.0.0.0/8,::1"}));
  CHECK(allocations() == 0);
  CHECK(asked == 0);
}

TEST_CASE("Site: every line that is let through is counted, and no other", "[diag][site]") {
  CleanDebug clean;
  int asked = 0;
  std::uint64_t before = tag_state("test_site.plain").hits;
  std::uint64_t before_template = tag_state("test_site.template").hits;
  every_kind_of_line(asked);
  CHECK(tag_state("test_site.plain").hits == before);
  REQUIRE(set_base({Mode::kOn, "test_site", ""}));
  for (int i = 0; i < 10; ++i) every_kind_of_line(asked);
  CHECK(tag_state("test_site.plain").hits == before + 30);
  CHECK(tag_state("test_site.template").hits == before_template + 20);
}

TEST_CASE("Site: a line before its module has registered is off, and on afterwards it is", "[diag][site]") {
  CleanDebug clean;
  CHECK(early_lines == 0);
  REQUIRE(set_base({Mode::kOn, "test_site.early$", ""}));
  before_every_constructor();
  Early again;
  CHECK(early_lines == 2);
}

TEST_CASE("Site: each is listed before it ever ran, once for all its copies", "[diag][site]") {
  std::vector<const SiteEntry*> entries = entries_of("test_site.template");
  REQUIRE(entries.size() == 1);  // two instantiations
  CHECK(entries[0]->format == "template {}");
  CHECK(entries[0]->file == "tests/unit/diag/site_test.cc");
  CHECK(entries[0]->function == "template_line");
  CHECK(entries[0]->module == "unit_diag");
  CHECK(entries[0]->loaded >= 2);
  CHECK(tag_state("test_site.template").sites == 1);
  CHECK(tag_state("test_site.plain").sites == 3);
  REQUIRE(entries_of("test_site.never").size() == 1);
  CHECK(entries_of("test_site.never")[0]->history->hits == 0);
  CHECK(site_by_number(0) == nullptr);
  CHECK(site_by_number(site_count() + 1) == nullptr);
  CHECK(site_by_number(~0u) == nullptr);
}

TEST_CASE("Site: 64 threads that meet at a new site lose no line", "[diag][site]") {
  CleanDebug clean;
  REQUIRE(set_base({Mode::kOn, "test_site.crowd", ""}));
  std::atomic<int> waiting{0}, wrote{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 64; ++i) {
    threads.emplace_back([&] {
      waiting.fetch_add(1);
      while (waiting.load() < 64) std::this_thread::yield();
      Dbg(crowd_dbg, "together {}", wrote.fetch_add(1));
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrote == 64);
  CHECK(entries_of("test_site.crowd").size() == 1);
  CHECK(tag_state("test_site.crowd").hits == 64);
}

}  // namespace telltale::diag
