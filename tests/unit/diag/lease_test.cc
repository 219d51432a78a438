// SPDX-License-Identifier: Apache-2.0
#include <telltale/diag/dbg.h>
#include <telltale/diag/debug_control.h>
#include <telltale/diag/scope.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/unit/diag/debug_state.h"

namespace telltale::diag {
namespace {

constexpr DbgCtl keep_dbg{"test_keep"};

// The slow obvious version of what is on: every source by itself, patterns as lists of the tags they match.
constexpr std::array<const char*, 4> kTags{"lease_a", "lease_ab", "lease_b", "lease_c"};
struct ModelPattern {
  const char* text;
  std::array<bool, 4> matches;
};
constexpr ModelPattern kPatterns[] = {
    {"lease_a", {true, true, false, false}},
    {"lease_a$", {true, false, false, false}},
    {"lease_b|lease_c", {false, false, true, true}},
    {"lease_.*b", {false, true, true, false}},
    {"lease_x", {false, false, false, false}},
};
struct ModelFilter {
  const char* text;
  std::array<bool, 3> matches;  // no client, A, B
};
constexpr ModelFilter kFilters[] = {
    {"10.0.0.0/8", {false, true, false}},
    {"192.0.2.1,::1", {false, false, true}},
    {"0.0.0.0/0", {false, true, true}},
    {"203.0.113.9", {false, false, false}},
};
struct ModelSource {
  Mode mode;
  const ModelPattern* pattern;
  const ModelFilter* filter;  // null: a lease for all clients

  bool on(std::size_t tag, std::size_t client, bool string, bool flag) const {
    bool match = flag || pattern->matches[tag];
    switch (mode) {
      case Mode::kOff: return false;
      case Mode::kOn: return match;
      case Mode::kOnForClients: return match && filter->matches[client];
      case Mode::kOnControlsOnly: return match && !string;
    }
    return false;
  }
};

}  // namespace

TEST_CASE("Leases: a text of rules without a rule is refused as such", "[diag][lease]") {
  CleanDebug clean;
  for (const char* rules : {";", " ; ", "  "}) {
    auto opened = open_lease({.tags = "", .client_ip = "", .rules = rules});
    REQUIRE_FALSE(opened);
    CHECK_THAT(opened.error().what, Catch::Contains("there is no rule"));
  }
}

TEST_CASE("Leases: opening replaces, appending adds, ending ends all", "[diag][lease]") {
  CleanDebug clean;
  RuntimeControl a("lease_a"), b("lease_b");
  auto first = open_lease({"lease_a", ""});
  REQUIRE(first);
  CHECK(first->tags_on == std::vector<std::string>{"lease_a"});
  CHECK(a.on());
  auto second = open_lease({"lease_b", "", true});
  REQUIRE(second);
  CHECK(second->lease.id > first->lease.id);
  CHECK((a.on() && b.on()));
  REQUIRE(leases().size() == 2);
  CHECK(leases()[0].id == first->lease.id);
  CHECK(leases()[1].tags == "lease_b");
  REQUIRE(open_lease({"lease_b", "", true}));  // twice the same: two leases, nothing lost
  CHECK(leases().size() == 3);
  REQUIRE(open_lease({"lease_b", ""}));
  CHECK(leases().size() == 1);
  CHECK_FALSE(a.on());
  CHECK(b.on());
  CHECK(end_leases() == 1);
  CHECK(end_leases() == 0);
  CHECK_FALSE(b.on());
  CHECK(leases().empty());
}

TEST_CASE("Leases: the base stays what it was, under all of them", "[diag][lease]") {
  CleanDebug clean;
  RuntimeControl a("lease_a"), b("lease_b");
  Base configured{Mode::kOn, "lease_a", ""};
  REQUIRE(set_base(configured));
  REQUIRE(open_lease({"lease_b", ""}));
  CHECK(base() == configured);
  CHECK((a.on() && b.on()));
  end_leases();
  CHECK(a.on());
  CHECK_FALSE(b.on());
}

TEST_CASE("Leases: 62 are opened, the next is refused with a sentence", "[diag][lease]") {
  CleanDebug clean;
  RuntimeControl a("lease_a"), b("lease_b");
  for (std::size_t i = 0; i < kLeasesMax; ++i) REQUIRE(open_lease({"lease_a", "", true}));
  auto refused = open_lease({"lease_b", "", true});
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().what, Catch::Contains("62 leases are open"));
  CHECK_FALSE(b.on());
  CHECK(leases().size() == kLeasesMax);
  REQUIRE(open_lease({"lease_b", ""}));  // replacing them is still possible
  CHECK(b.on());
  CHECK(leases().size() == 1);
}

TEST_CASE("Leases: any sequence of changes leaves on what the sources, one by one, say", "[diag][lease]") {
  CleanDebug clean;
  std::vector<std::unique_ptr<RuntimeControl>> controls;
  for (const char* tag : kTags) controls.push_back(std::make_unique<RuntimeControl>(tag));
  Client a{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 1, 2, 3}}, b{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 1}};
  const std::array<Context, 3> contexts{Context{}, Context{.client = &a}, Context{.client = &b}};

  std::mt19937 random(2);
  auto pick = [&](auto& from) { return &from[random() % std::size(from)]; };
  ModelSource base_model{Mode::kOff, &kPatterns[0], &kFilters[0]};
  std::vector<ModelSource> lease_models;
  std::size_t wrong = 0;
  for (int step = 0; step < 400; ++step) {
    switch (random() % 8) {
      case 0: case 1: case 2:
        base_model = {static_cast<Mode>(random() % 4), pick(kPatterns), pick(kFilters)};
        REQUIRE(set_base({base_model.mode, base_model.pattern->text, base_model.filter->text}));
        break;
      case 3:
        CHECK(end_leases() == lease_models.size());
        lease_models.clear();
        break;
      default: {
        const ModelFilter* filter = random() % 2 == 0 ? nullptr : pick(kFilters);
        ModelSource lease{filter == nullptr ? Mode::kOn : Mode::kOnForClients, pick(kPatterns), filter};
        bool append = random() % 3 != 0;
        REQUIRE(open_lease({lease.pattern->text, filter == nullptr ? "" : filter->text, append}));
        if (!append) lease_models.clear();
        lease_models.push_back(lease);
      }
    }
    for (std::size_t tag = 0; tag < kTags.size(); ++tag) {
      for (std::size_t client = 0; client < contexts.size(); ++client) {
        for (int form = 0; form < 4; ++form) {
          bool string = (form & 1) != 0, flag = (form & 2) != 0;
          bool expected = base_model.on(tag, client, string, flag);
          for (const ModelSource& lease : lease_models) expected |= lease.on(tag, client, string, flag);
          Scope scope(&contexts[client]);
          bool on = string ? string_tag_wanted(kTags[tag], flag) : controls[tag]->on(flag);
          if (on != expected) ++wrong;
        }
      }
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("Leases: while others come and go, an unchanged tag is never off", "[diag][lease]") {
  CleanDebug clean;
  Client client{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 1}};
  Context context{.client = &client};
  RuntimeControl control("test_keep");
  REQUIRE(set_base({Mode::kOn, "test_keep", ""}));
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> off{0}, asked{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back([&] {
      Scope scope(&context);
      while (!stop.load()) {
        bool written = false;
        Dbg(keep_dbg, "{}", written = true);
        if (!written || !control.on() || !string_tag_wanted("test_keep", false)) off.fetch_add(1);
        asked.fetch_add(1);
        std::this_thread::yield();
      }
    });
  }
  // On by one source after another: the base for all, the base for the client, leases of both kinds.
  std::size_t refused = 0;
  for (int i = 0; i < 300 || asked.load() < 300; ++i) {
    refused += !set_base({Mode::kOn, i % 2 == 0 ? "test_keep" : "test_keep|other", ""});
    refused += !set_base({Mode::kOnForClients, "test_keep", i % 2 == 0 ? "192.0.2.1" : "10.0.0.0/8,192.0.2.0/24"});
    refused += !open_lease({"test_keep", "::ffff:192.0.2.1"});
    refused += !set_base({Mode::kOff, "nothing", "203.0.113.1"});
    refused += !open_lease({"other", "", true});
    refused += !open_lease({"test_k", "192.0.2.1,203.0.113.1"});
    refused += !open_lease({"test_keep|more", ""});
    // From one lease to another in one change, whose number was somebody else's until then.
    refused += !open_lease({"test_keep|former", "", true});
    refused += !open_lease({"test_keep", "", true});
    refused += !open_lease({"other", "203.0.113.9", true});
    refused += !open_lease({"test_keep", ""});
    refused += !set_base({Mode::kOn, "test_keep", ""});
    refused += end_leases() != 1;
    refused += !open_lease({"other", "203.0.113.9"});
    refused += !open_lease({"test_keep", "", true});
    refused += !set_base({Mode::kOff, "nothing", ""});
    refused += !open_lease({"test_keep", ""});
    refused += !set_base({Mode::kOn, "test_keep", ""});
    refused += end_leases() != 1;
  }
  stop = true;
  for (std::thread& reader : readers) reader.join();
  CHECK(refused == 0);
  CHECK(asked > 0);
  CHECK(off == 0);
}

}  // namespace telltale::diag
