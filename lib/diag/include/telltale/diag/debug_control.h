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

namespace telltale::diag {

// Why a change was refused. Nothing was changed then.
struct Refusal {
  std::string what;                        // a sentence: what was wrong, and what was expected
  std::optional<std::size_t> offset = {};  // byte of the pattern or address list, where one can be named
};

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
  friend bool operator==(const Base&, const Base&) = default;
};

struct LeaseRequest {
  std::string tags;
  std::string client_ip;  // empty = all clients
  bool append = false;    // false: replaces the leases that are open
};

struct Lease {
  std::uint64_t id;
  std::string tags;
  std::string client_ip;
};

struct TagState {
  std::string name;
  bool on;              // for all, or for some clients
  bool clients_only;    // on, but only where a client filter says so
  std::uint32_t sites;  // loaded now
  std::uint64_t hits;   // enabled calls so far, unloaded modules included
};

// Is this a pattern that set_base() and open_lease() would take? Refused: invalid syntax (with its
// offset), an empty pattern or an empty alternative (would match every tag), one that is satisfied by
// nothing, such as "a*" (would too; ".*" says so openly and is taken), a comma outside a class or
// quantifier (hint: alternatives are separated by '|'), more than 4,096 bytes.
TELLTALE_EXPORT std::optional<Refusal> check_tag_pattern(std::string_view pattern);
// "1.2.3.4", "10.0.0.0/8", "::1", "2001:db8::/32", comma-separated. ::ffff:a.b.c.d equals a.b.c.d, and
// ::/0 is every client. Refused: anything else, an empty item, address bits beyond the prefix
// ("10.1.2.3/8"), more than 1,024 items; the base and all leases together may have no more either.
TELLTALE_EXPORT std::optional<Refusal> check_client_list(std::string_view list);

// Setting what is already set touches nothing. Errors: a bad value, or a match that ends in an error (the
// tag is named) or takes too long over all tags (500 ms). Cost: no lock that a site takes while it matches.
TELLTALE_EXPORT tl::expected<void, Refusal> set_base(const Base& base);
TELLTALE_EXPORT Base base();

// A lease counts as mode 1, or with clients as mode 2, of its own: string-tag calls and Specific forms
// included, whatever the base says. At most kLeasesMax are open.
inline constexpr std::size_t kLeasesMax = 63;
// Returns the lease and, in order of name, the tags its pattern matches now.
struct OpenedLease {
  Lease lease;
  std::vector<std::string> tags_on;
};
TELLTALE_EXPORT tl::expected<OpenedLease, Refusal> open_lease(const LeaseRequest& request);
TELLTALE_EXPORT std::vector<Lease> leases();
// Ends all of them; returns how many there were.
TELLTALE_EXPORT std::size_t end_leases();

// Every tag any loaded module, run-time control or string-tag call has named, in order of name.
TELLTALE_EXPORT std::vector<TagState> tags();

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
  std::string_view tag() const noexcept;

 private:
  friend struct Registry;
  bool wanted(bool flag) const noexcept;
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

struct ControlCounters {
  std::uint64_t string_tags_uncached;  // calls that matched because the cache was full
  std::uint64_t match_errors;          // matches that ended in an error, not in a verdict
  std::uint64_t walks;                 // times all sites and controls were written
};
TELLTALE_EXPORT ControlCounters control_counters();

}  // namespace telltale::diag
