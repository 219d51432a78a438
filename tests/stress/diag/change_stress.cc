// SPDX-License-Identifier: Apache-2.0
// 100,000 changes of base, rules and leases while threads log, a plugin is loaded and unloaded, and modules with
// sites come and go. At rest, every site is what a fresh match of everything in force says. (AC-09, 6, 20)
#include <telltale/diag/dbg.h>
#include <telltale/diag/debug_control.h>
#include <telltale/diag/output.h>
#include <telltale/diag/site_list.h>

#include <dlfcn.h>

#include <array>
#include <atomic>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "lib/diag/src/rule_list.h"
#include "tests/unit/diag/made_module.h"

namespace telltale::diag {
namespace {

constexpr DbgCtl stress_dbg{"stress.a"};

constexpr std::array<const char*, 8> kTags{"stress", "stress.a", "stress.b$", "test_plugin", "none", "stress.(a|c)", ".*", "test_plugin.t"};
constexpr std::array<const char*, 10> kRules{"file=*.cc",        "-file=plugin.cc", "function=made_*", "-function=*_1",  "line=1-20",
                                             "-line=10-12",      "text={}",         "-text=nothing",   "module=*.so",    "-tag=stress.b"};

// One module of 40 sites in two tags.
struct Made {
  Made() {
    for (unsigned i = 0; i < kSites; ++i) {
      module.add({i % 2 == 0 ? "stress.b" : "stress.c", i % 3 == 0 ? "text {}" : "nothing", "stress/made.cc", i % 4 == 1 ? "made_1" : "made_2", i + 1, false});
    }
    module.load(&kTags);
  }
  static constexpr unsigned kSites = 40;
  MadeModule module;
};

std::string pick_rules(std::mt19937& random) {
  std::string rules;
  for (unsigned n = random() % 4; n > 0; --n) rules += std::string(kRules[random() % kRules.size()]) + ";";
  return rules;
}

// What is in force, by itself.
bool fresh_match(const SiteState& site) {
  auto says = [&](const std::string& tags, const std::string& text) {
    bool on = false;
    int error = 0;
    Subject subject{site.tag, site.file, site.function, site.module, site.format, site.line};
    RuleList list;
    if (!tags.empty()) list.rules.push_back(*tag_rule(tags));
    auto parsed = parse_rules(text);
    for (Rule& rule : *parsed) list.rules.push_back(std::move(rule));
    on = list.on(subject, error);
    return on;
  };
  Base now = base();
  if (now.mode != Mode::kOff && says(now.tags, now.rules)) return true;
  for (const Lease& lease : leases()) {
    if (says(lease.tags, lease.rules)) return true;
  }
  return false;
}

std::size_t wrong_sites() {
  std::size_t wrong = 0, seen = 0;
  SiteQuery query;
  do {
    auto page = sites(query);
    REQUIRE(page);
    for (const SiteState& site : page->sites) {
      ++seen;
      wrong += (site.state != SiteIs::kOff) != fresh_match(site);
    }
    query.after = page->next;
  } while (query.after != 0);
  CHECK(seen >= Made::kSites);
  return wrong;
}

}  // namespace

TEST_CASE("Changes: 100,000 under load, and at rest every site is what a fresh match says", "[diag][stress]") {
  OutputConfig quiet;
  quiet.routes.fill(0);
  REQUIRE(configure_output(quiet));
  Made lasting;
  std::atomic<bool> stop{false}, rest{false};
  std::atomic<int> resting{0};
  std::vector<std::thread> threads;
  auto loop = [&](auto body) {
    threads.emplace_back([&, body] {
      for (int i = 0; !stop.load(); ++i) {
        body(i);
        if (!rest.load()) continue;
        resting.fetch_add(1);
        while (rest.load() && !stop.load()) std::this_thread::yield();
        resting.fetch_sub(1);
      }
    });
  };
  for (int t = 0; t < 2; ++t) {
    loop([](int i) {
      Dbg(stress_dbg, "line {}", i);
      (void)string_tag_wanted_at("stress.a", {"stress/text.cc", "made_1", i % 2 == 0 ? "text {}" : "nothing", 7, nullptr}, false);
    });
  }
  loop([](int) {
    void* plugin = dlopen(TELLTALE_TEST_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    if (plugin == nullptr) std::abort();
    reinterpret_cast<int (*)()>(dlsym(plugin, "diag_plugin_run"))();
    dlclose(plugin);
  });
  loop([](int) { Made passing; });

  std::mt19937 random(5);
  std::size_t refused = 0, wrong = 0;
  for (int change = 0; change < 100'000; ++change) {
    switch (random() % 8) {
      case 0: case 1: case 2:
        refused += !set_base({random() % 4 == 0 ? Mode::kOff : Mode::kOn, kTags[random() % kTags.size()], "", pick_rules(random)});
        break;
      case 3: (void)all_off(); break;
      case 4: {
        auto open = leases();
        if (!open.empty()) refused += !end_lease(open[random() % open.size()].id);
        break;
      }
      default: refused += !open_lease({.tags = kTags[random() % kTags.size()], .append = leases().size() < 8, .rules = pick_rules(random)});
    }
    if (change % 2000 == 0) {
      rest.store(true);
      while (resting.load() < static_cast<int>(threads.size())) std::this_thread::yield();
      wrong += wrong_sites();
      rest.store(false);
      while (resting.load() > 0) std::this_thread::yield();
    }
  }
  stop.store(true);
  for (std::thread& thread : threads) thread.join();
  wrong += wrong_sites();
  CHECK(refused == 0);
  CHECK(wrong == 0);
  (void)all_off();
  stop_output(std::chrono::seconds(10));
}

}  // namespace telltale::diag
