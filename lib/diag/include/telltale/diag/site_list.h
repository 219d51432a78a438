// SPDX-License-Identifier: Apache-2.0
#pragma once
// The list of sites: all of them, also those that never ran and those whose module is gone, each with its
// state, what it has done, and why it is on or off. And the preview: what a pattern would cost, counted.
//
// A site's id is the hash of module, function, tag and format: the same in the next build, wherever the line
// has moved. Hits and the last line go by it, and outlive the module.
//
// **Thread safety:** thread-safe. Cost: looks at every site; takes no lock that a site takes.

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include <telltale/diag/export.h>
#include <telltale/diag/lease.h>
#include <telltale/diag/refusal.h>

namespace telltale::diag {

inline constexpr std::uint32_t kSitesPerAnswerMax = 1000;

struct SiteQuery {
  std::string tags;                    // pattern; empty here and below: any
  std::string file, function, module;  // globs
  std::string text;                    // part of the format
  bool on = false;                     // only those that are on
  bool unloaded = false;               // also those whose module is gone
  bool why = false;
  std::uint32_t after = 0;  // a number: those behind it
  std::uint32_t limit = kSitesPerAnswerMax;
};

enum class SiteIs : std::uint8_t { kOff, kOn, kOnForClients, kCounted, kRecorded };  // kRecorded: by the flight recorder, no output

// What one source says of a site.
struct SiteReason {
  std::string source;  // "base" or "lease 3"
  bool on = false;
  std::string decided;  // the rule that decided, "rule 2: file=*.cc"; empty: none matches
  std::string nearest;  // of a site it has not on: the rule that came nearest, and which of its keys do not match
};

struct SiteState {
  std::uint32_t number = 0;
  std::uint64_t id = 0;
  std::string module, file, function, tag, format;
  std::uint32_t line = 0;
  SiteIs state = SiteIs::kOff;
  bool loaded = true;
  bool at_run_time = false;  // a call that names its tag at run time, known since it first was on
  std::uint64_t hits = 0;    // enabled calls that the output has seen
  std::string last_line = {};
  std::vector<SiteReason> why = {};
};

struct SiteList {
  std::vector<SiteState> sites;  // in order of number
  std::uint32_t next = 0;        // for SiteQuery::after; 0: that was the last
};
// Errors: a bad pattern or limit.
TELLTALE_EXPORT tl::expected<SiteList, Refusal> sites(const SiteQuery& query);

inline constexpr std::chrono::seconds kPreviewMax{60};
inline constexpr std::size_t kLoudestSites = 10;

struct PreviewRow {
  std::string name;  // a tag, or "file:line (function)"
  std::uint64_t lines = 0;
  std::uint64_t bytes = 0;  // estimated: lines times the length of those written so far, or of the format
};
struct Preview {
  std::chrono::duration<double> time{};  // how long was counted
  std::uint64_t lines = 0, bytes = 0;
  std::vector<PreviewRow> tags;   // that had any, loudest first
  std::vector<PreviewRow> sites;  // the kLoudestSites loudest
  double core_share = 0;          // of one core that the lines would cost: an estimate from a trial on this machine
};
// Opens a lease of kind kCount that ends after `request.duration`, at most kPreviewMax. Errors: those of
// open_lease(); a preview is running.
TELLTALE_EXPORT tl::expected<OpenedLease, Refusal> begin_preview(
    LeaseRequest request, std::chrono::steady_clock::time_point now = std::chrono::steady_clock::now());
// Ends it, if it has not ended by itself, and says what was counted. Errors: that is not the id of the last one.
TELLTALE_EXPORT tl::expected<Preview, Refusal> end_preview(
    std::uint64_t id, std::chrono::steady_clock::time_point now = std::chrono::steady_clock::now());

}  // namespace telltale::diag
