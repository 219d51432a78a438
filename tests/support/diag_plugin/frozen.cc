// SPDX-License-Identifier: Apache-2.0
// A module as one is that was built with the headers of Telltale 0.1: what they compiled into it, written out. It
// includes nothing of the library, so that a change there does not change it. tests/unit/diag/module_test.cc loads it.
//
// Where that test fails, plugins that are built already would break. What a module and the library share (the structs
// and functions below, and the bytes of an argument) may be added to where a plugin's zeros mean "not there": the bytes
// behind Module::string_tags_on, SiteMeta::specific and Site::hot are free. Anything else needs new names for the
// functions, so that the loader refuses an older plugin by name instead of letting it run.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#define EXPORT __attribute__((visibility("default")))
#define HIDDEN __attribute__((visibility("hidden")))

namespace telltale::diag {

enum class Level : std::uint8_t { kDebug };

struct SiteMeta {
  const char* tag;
  const char* format;
  const char* file;
  const char* function;
  std::uint32_t line;
  bool specific;
};
struct SiteEntry;
struct Site {
  std::atomic<std::uint8_t> hot{0x80};
  std::atomic<SiteEntry*> entry{nullptr};
  const SiteMeta* meta;
};
struct SiteListItem {
  std::int32_t hot_offset;
  std::int32_t site_offset;
};
struct Module {
  std::atomic<std::uint8_t> string_tags_on{0};
  const SiteListItem* begin = nullptr;
  const SiteListItem* end = nullptr;
  Module* next = nullptr;
  const void* address = nullptr;
  std::atomic<const void*> name{nullptr};
};

EXPORT void add_module(Module& module);
EXPORT void remove_module(Module& module) noexcept;
EXPORT bool site_wanted(const Site& site, bool flag) noexcept;
EXPORT std::uint32_t site_number(const Site& site) noexcept;
EXPORT std::uint32_t site_tag_number(const Site& site) noexcept;
EXPORT char* begin_record(std::uint32_t site, std::uint32_t tag, Level level, std::size_t room_bytes) noexcept;
EXPORT void end_record(char* end, std::uint8_t argument_count) noexcept;

}  // namespace telltale::diag

using namespace telltale::diag;

namespace {

constexpr SiteMeta kMeta{"test_frozen.portable", "frozen {} of {}", "frozen/plugin.cc", "int run()", 40, false};
constinit Site site{{0x80}, {nullptr}, &kMeta};

// A list of one: a list's offsets are from their own members.
struct List {
  SiteListItem items[1];
  List() {
    auto distance = [](const void* from, const void* to) {
      return static_cast<std::int32_t>(reinterpret_cast<std::intptr_t>(to) - reinterpret_cast<std::intptr_t>(from));
    };
    items[0] = {0, distance(&items[0].site_offset, &site)};
  }
};

struct Registration {
  List list;
  Module module;
  Registration() {
    module.begin = list.items;
    module.end = list.items + 1;
    module.address = this;
    add_module(module);
  }
  ~Registration() { remove_module(module); }
} registration __attribute__((init_priority(101)));

// A kind byte, then eight bytes of a signed number, or of text its length, what was lost of it, and its bytes.
char* put(char* at, long long value) {
  *at = 1;
  std::memcpy(at + 1, &value, sizeof value);
  return at + 1 + sizeof value;
}
char* put(char* at, const char* text) {
  const std::uint32_t sizes[2] = {static_cast<std::uint32_t>(std::strlen(text)), 0};
  *at = 7;
  std::memcpy(at + 1, sizes, sizeof sizes);
  std::memcpy(at + 1 + sizeof sizes, text, sizes[0]);
  return at + 1 + sizeof sizes + sizes[0];
}

}  // namespace

// How often the line's arguments were evaluated.
extern "C" EXPORT int frozen_run() {
  static int evaluated = 0;
  if (site.hot.load(std::memory_order_relaxed) != 0 && site_wanted(site, false)) {
    ++evaluated;
    if (char* at = begin_record(site_number(site), site_tag_number(site), Level::kDebug, 64)) end_record(put(put(at, evaluated), "text"), 2);
  }
  return evaluated;
}
