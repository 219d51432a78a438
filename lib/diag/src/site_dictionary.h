// SPDX-License-Identifier: Apache-2.0
#pragma once
// The dictionary: what a site number in a record means, long after the module is gone.
//
// An entry copies everything a line or a listing shows, so nobody follows a pointer into a module. It is
// kept for good and found again by content: a module that is loaded a second time gets its old entries.
// Copies of one site (inlining, constructors) and instantiations of one template share an entry.
//
// **Thread safety:** thread-safe.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string_view>

#include <telltale/diag/export.h>
#include <telltale/diag/site.h>

#include "source_bits.h"

namespace telltale::diag {

struct Tag;
struct Subject;

// Who reads hits first lets the output see the records that are on their way, so long at most.
inline constexpr std::chrono::milliseconds kHitsWaitMax{100};

// What is counted of a site, by its identity: module, function, tag and format. Line numbers may move and
// modules may go; a site that comes back finds its history.
struct SiteHistory {
  std::uint32_t number = 0;
  std::uint64_t hash = 0;  // the identity
  SiteHistory* next_in_chain = nullptr;
  Tag* tag = nullptr;
  std::atomic<std::uint32_t> newest{0};  // number of the last entry made for it
  // On a line of its own: threads write it while others read the text. Enabled calls that are no sites, and those
  // whose record found no room.
  alignas(64) std::atomic<std::uint64_t> hits{0};
  std::atomic<std::uint64_t> counted{0};  // by previews
  // Written by the backend.
  std::atomic<std::uint64_t> records{0};  // it has read
  std::atomic<std::uint64_t> lines{0};
  std::atomic<std::uint64_t> bytes{0};

  // Enabled calls, but for those whose records are still on their way.
  std::uint64_t hits_so_far() const noexcept {
    return hits.load(std::memory_order_relaxed) + records.load(std::memory_order_relaxed);
  }
};

// All text ends with a NUL behind the view and is never freed.
struct SiteEntry {
  std::uint32_t number = 0;
  std::uint64_t hash = 0;
  SiteEntry* next_in_chain = nullptr;

  Tag* tag = nullptr;
  std::string_view format;
  std::string_view file;
  std::string_view function;  // short: "on_request", "operator==", "each::lambda"
  std::string_view module;    // base name of the file it was loaded from
  std::uint32_t line = 0;
  bool specific = false;
  bool at_run_time = false;  // a call whose tag is only known at run time, first seen there
  // Numbers of tag and words, for those that look at every site.
  std::uint32_t tag_number = 0, file_word = 0, function_word = 0, module_word = 0;
  SiteHistory* history = nullptr;

  SourceBits matches;  // bit n: source n's rules have it on
  std::atomic<std::uint8_t> state{0};    // the hot byte as last written; of the module's last moment, once unloaded
  std::atomic<std::uint32_t> loaded{0};  // copies in loaded modules
};

inline constexpr std::uint32_t kSitesMax = 262'144;

// What makes two sites one entry.
struct SiteContent {
  std::string_view tag, format, file, function, module;
  std::uint32_t line = 0;
  bool specific = false;
  bool at_run_time = false;
};
SiteContent content_of(const SiteMeta& meta, std::string_view module) noexcept;
// Stable across builds. `ordinal`: of several such sites, which one, from 0.
std::uint64_t identity_of(const SiteContent& content, std::uint32_t ordinal) noexcept;

// The entry with that content, made and matched against the rules in force if it is new. Null: kSitesMax
// entries exist. REQUIRES: no lock is held. Cost: as intern_tag().
SiteEntry* intern_site(const SiteContent& content, Tag& tag, std::uint32_t ordinal);
SiteEntry* find_site(const SiteContent& content) noexcept;
Subject subject_of(const SiteEntry& entry) noexcept;

// For the backend: null for 0 and unknown numbers. Cost: no lock, two loads.
TELLTALE_EXPORT const SiteEntry* site_by_number(std::uint32_t number) noexcept;
TELLTALE_EXPORT std::uint32_t site_count() noexcept;

}  // namespace telltale::diag
