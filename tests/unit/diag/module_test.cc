// SPDX-License-Identifier: Apache-2.0
#include <telltale/diag/debug_control.h>
#include <telltale/diag/output.h>
#include <telltale/diag/site.h>
#include <telltale/diag/site_list.h>

#include <dlfcn.h>
#include <sys/mman.h>

#include <atomic>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "lib/diag/src/site_dictionary.h"
#include "lib/diag/src/tag_table.h"
#include "tests/unit/diag/debug_state.h"
#include "tests/unit/diag/output_capture.h"

namespace telltale::diag {
namespace {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int kSlow = 10;
#else
constexpr int kSlow = 1;
#endif

class Plugin {
 public:
  Plugin() : handle_(dlopen(TELLTALE_TEST_PLUGIN, RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) FAIL(dlerror());
    run_ = reinterpret_cast<int (*)()>(dlsym(handle_, "diag_plugin_run"));
  }
  ~Plugin() { dlclose(handle_); }
  Plugin(const Plugin&) = delete;
  Plugin& operator=(const Plugin&) = delete;
  int run() { return run_(); }
  const void* address() const { return reinterpret_cast<const void*>(run_); }

 private:
  void* handle_;
  int (*run_)();
};

bool mapped() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("diag_plugin.so") != std::string::npos) return true;
  }
  return false;
}

std::uint32_t sites_of_plugin() {
  std::uint32_t sites = 0;
  for (const TagState& tag : tags()) {
    if (tag.name.starts_with("test_plugin.")) sites += tag.sites;
  }
  return sites;
}

constexpr std::uint32_t kSites = 6;  // plain, inline, lambda; template; static constructor and destructor

}  // namespace

TEST_CASE("Module: its sites are listed when it is loaded, and follow what is on", "[diag][module]") {
  CleanDebug clean;
  CHECK(sites_of_plugin() == 0);
  Plugin plugin;
  CHECK(sites_of_plugin() == kSites);
  CHECK(plugin.run() == 0);
  REQUIRE(set_base({Mode::kOn, "test_plugin.template", ""}));
  CHECK(plugin.run() == 2);
  REQUIRE(set_base({Mode::kOn, "test_plugin", ""}));
  CHECK(plugin.run() == 8);
  REQUIRE(set_base({}));
  CHECK(plugin.run() == 8);
}

// What is asserted of frozen.cc fails where a change breaks modules that are built already; it says what to do then.
TEST_CASE("Module: one built with the first headers is listed, armed, written and unloaded (AC-03)", "[diag][module]") {
  CleanDebug clean;
  Capture capture;
  auto states = [] {
    auto list = sites({.tags = "test_frozen"});
    REQUIRE(list);
    std::vector<std::pair<SiteIs, std::uint64_t>> found;
    for (const SiteState& site : list->sites) {
      CHECK(site.module == "diag_frozen.so");
      CHECK(site.format == "frozen {} of {}");
      CHECK(site.file == "frozen/plugin.cc");
      CHECK(site.line == 40);
      found.emplace_back(site.state, site.hits);
    }
    return found;
  };
  using States = decltype(states());
  for (std::uint64_t round = 0; round < 2; ++round) {  // its hits outlive it
    void* handle = dlopen(TELLTALE_FROZEN_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) FAIL(dlerror());
    auto run = reinterpret_cast<int (*)()>(dlsym(handle, "frozen_run"));
    CHECK(states() == States{{SiteIs::kOff, round * 2}});
    CHECK(run() == 0);
    REQUIRE(set_base({Mode::kOn, "test_frozen", ""}));
    CHECK(states() == States{{SiteIs::kOn, round * 2}});
    CHECK(run() == 1);
    REQUIRE(set_base({}));
    CHECK(run() == 1);
    REQUIRE(open_lease({.tags = "", .client_ip = "", .rules = "module=diag_frozen.so line=40"}));
    CHECK(run() == 2);
    end_leases();
    CHECK(run() == 2);
    CHECK(states() == States{{SiteIs::kOff, round * 2 + 2}});
    const std::vector<std::string> lines = capture.lines();
    REQUIRE(lines.size() == 2);
    CHECK_THAT(lines[0], Catch::EndsWith("DEBUG (test_frozen.portable) <frozen/plugin.cc:40 (run)> frozen 1 of text"));
    dlclose(handle);
  }
}

TEST_CASE("Module: one that is loaded while its tags are on starts with them on", "[diag][module]") {
  CleanDebug clean;
  REQUIRE(open_lease({"test_plugin", ""}));
  std::uint64_t before = tag_state("test_plugin.static").hits;
  Plugin plugin;
  CHECK(tag_state("test_plugin.static").hits == before + 1);
  CHECK(plugin.run() == 6);
}

TEST_CASE("Module: unloaded, it is gone from memory, and its tags and hits are not", "[diag][module]") {
  CleanDebug clean;
  REQUIRE(set_base({Mode::kOn, "test_plugin", ""}));
  std::uint64_t before = tag_state("test_plugin.plain").hits;
  std::uint64_t before_static = tag_state("test_plugin.static").hits;
  {
    Plugin plugin;
    CHECK(mapped());
    plugin.run();
  }
  CHECK_FALSE(mapped());
  CHECK(sites_of_plugin() == 0);
  TagState state = tag_state("test_plugin.plain");
  CHECK(state.hits == before + 3);
  CHECK(state.on);
  CHECK(tag_state("test_plugin.static").hits == before_static + 2);  // its last destructor included
  for (const char* pattern : {"other", "test_plugin", ".*"}) CHECK(set_base({Mode::kOn, pattern, ""}));
  for (std::uint32_t number = 1; number <= site_count(); ++number) {
    const SiteEntry* entry = site_by_number(number);
    if (entry->module != "diag_plugin.so") continue;
    CHECK(entry->file == "tests/support/diag_plugin/plugin.cc");
    CHECK(entry->tag->name.starts_with("test_plugin."));
  }
}

TEST_CASE("Module: loaded a thousand times, it takes no more room than once", "[diag][module]") {
  CleanDebug clean;
  { Plugin once; }
  std::uint32_t sites = site_count();
  std::uint32_t all_tags = static_cast<std::uint32_t>(tags().size());
  int wrong = 0;
  for (int i = 0; i < 1000 / kSlow; ++i) {
    bool on = i % 2 == 0;
    if (!set_base({Mode::kOn, on ? "test_plugin" : "other", ""})) ++wrong;
    Plugin plugin;
    if (plugin.run() != (on ? 6 : 0)) ++wrong;
  }
  CHECK(wrong == 0);
  CHECK(site_count() == sites);
  CHECK(tags().size() == all_tags);
  CHECK_FALSE(mapped());
}

TEST_CASE("Module: loaded again at another address, it has its sites, hits and rules as before", "[diag][module]") {
  CleanDebug clean;
  REQUIRE(set_base({Mode::kOn, "nothing", "", "module=diag_plugin.so tag=test_plugin.template"}));
  const void* first = nullptr;
  std::uint64_t before = 0;
  {
    Plugin plugin;
    first = plugin.address();
    before = tag_state("test_plugin.template").hits;
    CHECK(plugin.run() == 2);
  }
  REQUIRE_FALSE(mapped());
  // What takes its place in memory.
  auto page = reinterpret_cast<std::uintptr_t>(first) & ~std::uintptr_t{4095};
  void* in_the_way = mmap(reinterpret_cast<void*>(page), 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  REQUIRE(in_the_way != MAP_FAILED);
  {
    Plugin plugin;
    CHECK(plugin.address() != first);
    CHECK(plugin.run() == 2);
    CHECK(tag_state("test_plugin.template").hits == before + 4);
    CHECK(sites_of_plugin() == kSites);
  }
  munmap(in_the_way, 4096);
}

TEST_CASE("Module: lines written just before it is unloaded come out whole", "[diag][module]") {
  struct Lines : Sink {
    bool write(std::string_view lines) noexcept override {
      text += lines;
      return true;
    }
    std::string text;
  };
  CleanDebug clean;
  auto lines = std::make_shared<Lines>();
  set_extra_sink(lines);
  OutputConfig config;
  config.routes[static_cast<std::size_t>(Level::kDebug)] = kToExtra;
  REQUIRE(configure_output(config));
  REQUIRE(set_base({Mode::kOn, "test_plugin.template", ""}));
  {
    Plugin plugin;
    for (int i = 0; i < 500; ++i) plugin.run();
  }
  REQUIRE_FALSE(mapped());
  REQUIRE(flush_output(std::chrono::seconds(10)));
  set_extra_sink(nullptr);
  std::size_t found = 0;
  for (std::size_t at = 0; (at = lines->text.find("(test_plugin.template) <tests/support/diag_plugin/plugin.cc:", at)) != std::string::npos; ++at) {
    ++found;
  }
  CHECK(found == 1000);
  CHECK(lines->text.find("template text 1000\n") != std::string::npos);
}

TEST_CASE("Module: loading and unloading while threads make tags and patterns change ends, and right", "[diag][module]") {
  CleanDebug clean;
  std::atomic<bool> stop{false};
  // Each tag on a thread of its own: first uses of everything per thread meet the loader's lock.
  std::thread makers([&] {
    for (int i = 0; i < 1000 / kSlow; ++i) {
      std::thread([i] { (void)string_tag_wanted("test_loader_" + std::to_string(i), false); }).join();
    }
    stop = true;
  });
  std::thread changer([&] {
    for (int i = 0; !stop.load(); ++i) (void)set_base({Mode::kOn, i % 2 == 0 ? "test_(plugin|loader)" : "(test_plugin|x)+", ""});
  });
  int loads = 0;
  for (; !stop.load(); ++loads) {
    Plugin plugin;
    (void)plugin.run();
  }
  makers.join();
  changer.join();
  CHECK(loads > 0);
  REQUIRE(set_base({Mode::kOn, "test_plugin", ""}));
  Plugin plugin;
  CHECK(plugin.run() == 6);
}

TEST_CASE("Module: one that was never added, or is removed twice, is left alone", "[diag][module]") {
  Module module;
  remove_module(module);
  add_module(module);
  remove_module(module);
  remove_module(module);
  CHECK(set_base({Mode::kOn, "x", ""}));
  CHECK(module.string_tags_on == 0);
  CHECK(set_base({}));
}

}  // namespace telltale::diag
