// SPDX-License-Identifier: Apache-2.0
#pragma once
// The dictionary: what a site number in a record means, long after the module is gone.
//
// An entry copies everything a line or a listing shows, so nobody follows a pointer into a module. It is
// kept for good and found again by content: a module that is loaded a second time gets its old entries,
// with their hits. Copies of one site (inlining, constructors) and instantiations of one template share
// an entry.
//
// **Thread safety:** thread-safe.

#include <atomic>
#include <cstdint>
#include <string_view>

#include <telltale/diag/export.h>
#include <telltale/diag/site.h>

namespace telltale::diag {

struct Tag;

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

  std::atomic<std::uint8_t> state{0};    // the hot byte as last written; of the module's last moment, once unloaded
  std::atomic<std::uint32_t> loaded{0};  // copies in loaded modules
  // On a line of its own: threads write it while others read the text.
  alignas(64) std::atomic<std::uint64_t> hits{0};
};

inline constexpr std::uint32_t kSitesMax = 262'144;

// The entry with that content, made if it is new. Null: kSitesMax entries exist.
// REQUIRES: no lock is held. Cost: as intern_tag().
SiteEntry* intern_site(const SiteMeta& meta, Tag& tag, std::string_view module);

// For the backend: null for 0 and unknown numbers. Cost: no lock, two loads.
TELLTALE_EXPORT const SiteEntry* site_by_number(std::uint32_t number) noexcept;
TELLTALE_EXPORT std::uint32_t site_count() noexcept;

}  // namespace telltale::diag
