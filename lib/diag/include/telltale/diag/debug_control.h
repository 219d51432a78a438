// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is on: the base, and leases on top of it.
//
// The base is what the operator configured (records, -T, config set). A lease is what somebody switched
// on for a while; it is never written to the configuration. A line prints where the base or any lease
// says so. A change is in force, for every site, thread and connection, when the call returns, and at no
// moment is an unchanged tag off.
//
// Tag patterns are PCRE2 and match at the start of a tag: "http|dns" turns on http, http_hdrs and dns,
// not splitdns. Patterns are compiled with JIT where the processor has it, matched with a match limit,
// and only ever matched against tags: when a pattern or a tag is new, never at a call. A match that
// ends in an error (limits) is told apart from "no match" and refuses the change.
//
// **Thread safety:** thread-safe; changes are serialised. Not for signal handlers.

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include <telltale/diag/export.h>
#include <telltale/diag/lease.h>
#include <telltale/diag/refusal.h>

namespace telltale::diag {

enum class Mode : std::uint8_t {
  kOff = 0,             // all off
  kOn = 1,              // on where the tag matches
  kOnForClients = 2,    // on where the tag matches and the client is in client_ip
  kOnControlsOnly = 3,  // as 1, but string-tag calls are off
};

struct Base {
  Mode mode = Mode::kOff;
  std::string tags;       // pattern; looked at in every mode, so that a bad one is refused at once. Empty: none,
                          // which only kOff takes
  std::string client_ip;  // addresses and CIDR blocks, comma-separated; empty = no client
  std::string rules = {};  // behind the pattern of tags, which is the first of them; see check_rules()
  std::uint32_t sample = 1;  // in modes 1 to 3: on for one in so many transactions, 1 to kSampleMost (lease.h)
  friend bool operator==(const Base&, const Base&) = default;
};

struct TagState {
  std::string name;
  bool on;              // for all, or for some clients
  bool clients_only;    // on, but only where a client filter says so
  std::uint32_t sites;  // loaded now
  std::uint64_t hits;   // enabled calls, unloaded modules included; of sites those that the output has seen
};

// Is this a pattern that set_base() and open_lease() would take? Refused: invalid syntax (with its
// offset), an empty pattern or an empty alternative (would match every tag), one that is satisfied by
// nothing, such as "a*" (would too; ".*" says so openly and is taken), a comma outside a class or
// quantifier (hint: alternatives are separated by '|'), more than 4,096 bytes.
TELLTALE_EXPORT std::optional<Refusal> check_tag_pattern(std::string_view pattern);
// Are these rules that set_base() and open_lease() would take? "[-]KEY=VALUE ..." each, separated by ';' or
// line ends; keys: tag, file, function, line, module, text. The last rule that matches a site decides; '-'
// switches it off. docs/diagnostics.md has the whole of it. Refused: anything else, with the number of the
// rule and its offset; more than kRulesMax rules or kRulesBytesMax bytes.
inline constexpr std::size_t kRulesMax = 128;
inline constexpr std::size_t kRulesBytesMax = 16 * 1024;
TELLTALE_EXPORT std::optional<Refusal> check_rules(std::string_view rules);
// "1.2.3.4", "10.0.0.0/8", "::1", "2001:db8::/32", comma-separated. ::ffff:a.b.c.d equals a.b.c.d, and
// ::/0 is every client. Refused: anything else, an empty item, address bits beyond the prefix
// ("10.1.2.3/8"), more than 1,024 items; the base and all leases together may have no more either.
TELLTALE_EXPORT std::optional<Refusal> check_client_list(std::string_view list);

// Setting what is already set touches nothing. Errors: a bad value, or a match that ends in an error (the
// tag is named) or takes too long over all tags (500 ms). Cost: no lock that a site takes while it matches.
TELLTALE_EXPORT tl::expected<void, Refusal> set_base(const Base& base);
TELLTALE_EXPORT Base base();

// Debug off, whatever had it on: base mode 0, every lease ended, in one change that cannot be refused.
// Returns how many leases there were.
TELLTALE_EXPORT std::size_t all_off();

// Every tag any loaded module, run-time control or string-tag call has named, in order of name. Waits for the output
// to see what was written before, 0.1 s at most, so that hits are of now.
TELLTALE_EXPORT std::vector<TagState> tags();

// Where a call that is no site stands: rules that name places are asked about it. All text is copied where
// it is kept.
struct Module;
struct Place {
  std::string_view file, function, format;
  std::uint32_t line = 0;
  const Module* module = nullptr;  // that of the calling code; null: none of the rules' modules
};

// A control made at run time: any valid tag, its own hot byte. Registers when made, unregisters when
// destroyed. REQUIRES: valid_tag(tag); another tag leaves the control off and is reported once.
struct Tag;
class TELLTALE_EXPORT RuntimeControl {
 public:
  explicit RuntimeControl(std::string_view tag);
  ~RuntimeControl();
  RuntimeControl(const RuntimeControl&) = delete;
  RuntimeControl& operator=(const RuntimeControl&) = delete;

  // Off: one load and one branch. On: asks the context if a client filter decides. `flag` is that of the
  // Specific form: on then wherever debug is on at all; without it a control whose tag does not match
  // costs no more while debug is on than while it is off.
  bool on(bool flag = false) const noexcept {
    return (flag ? specific_hot_ : hot_).load(std::memory_order_relaxed) != 0 && wanted(flag);
  }
  // Shall this line be written? Charges it to the leases that ask for it. on() is a question only: true
  // where some place of the tag may be on. Cost: where rules name places, one look-up more.
  bool on_at(const Place& place, bool flag = false) const noexcept {
    return (flag ? specific_hot_ : hot_).load(std::memory_order_relaxed) != 0 && wanted_at(place, flag);
  }
  std::string_view tag() const noexcept;

 private:
  friend struct Registry;
  bool wanted(bool flag) const noexcept;
  bool wanted_at(const Place& place, bool flag) const noexcept;
  // The first two bytes of the object, which ts/ts.h reads in a plugin: 0 = off, without and with the flag.
  std::atomic<std::uint8_t> hot_{0};
  std::atomic<std::uint8_t> specific_hot_{0};
  Tag* tag_ = nullptr;
  RuntimeControl* next_ = nullptr;
  RuntimeControl* previous_ = nullptr;
};

// A call that names its tag by a string (TSDebug, TSIsDebugTagSet). Verdicts are cached per tag, at most
// kStringTagsMax; beyond that each call matches, and it is counted. Cost: the shared side of the
// registry's OneWriterMultiReader and one hash look-up; guard it with Module::string_tags_on.
inline constexpr std::size_t kStringTagsMax = 4096;
TELLTALE_EXPORT bool string_tag_wanted(std::string_view tag, bool flag) noexcept;
// The same for a line at a place, as RuntimeControl::on_at().
TELLTALE_EXPORT bool string_tag_wanted_at(std::string_view tag, const Place& place, bool flag) noexcept;
// Places of such calls that are kept with their verdict; beyond that each call matches, and it is counted.
inline constexpr std::size_t kRunTimePlacesMax = 16'384;

struct ControlCounters {
  std::uint64_t string_tags_uncached;  // calls that matched because a cache was full
  std::uint64_t match_errors;          // matches that ended in an error, not in a verdict
  std::uint64_t walks;                 // times all sites and controls were written
};
TELLTALE_EXPORT ControlCounters control_counters();

}  // namespace telltale::diag
