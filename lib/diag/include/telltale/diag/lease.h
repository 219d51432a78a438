// SPDX-License-Identifier: Apache-2.0
#pragma once
// Leases: what somebody switched on for a while, on top of the base (debug_control.h).
//
// A lease counts as mode 1, or with clients as mode 2, of its own: string-tag calls and Specific forms
// included, whatever the base says. It ends when it is ended, when its time is up or when its lines are
// spent. Spent, it prints nothing more at once; expire_leases() then takes it back and says so in a line,
// and the program calls that at next_lease_end() and whenever the notifier of on_lease_spent() was called.
//
// A lease may say how many lines a second it is worth (`max_rate`): while it has more, limit_leases() takes back
// the sites that write the most, and leaves the rest on. Or that it is for one in so many transactions
// (`sample`): for all lines of those, and for none outside a transaction.
//
// Lines are counted per lease: each line that it asks for, also where the base or another lease asks for
// it too. A line prints where the base or any lease with lines left asks for it.
//
// **Thread safety:** thread-safe; changes are serialised. Not for signal handlers.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include <telltale/diag/export.h>
#include <telltale/diag/output.h>
#include <telltale/diag/refusal.h>

namespace telltale::diag {

enum class LeaseKind : std::uint8_t {
  kPrint,
  kCount,   // a preview (site_list.h): matching sites only count
  kFollow,  // prints only for contexts that carry its id (Context::followed)
};

struct LeaseRequest {
  std::string tags;       // pattern; empty: the rules alone decide, and one of them must switch something on
  std::string client_ip;  // empty = all clients
  bool append = false;    // false: replaces the printing leases that are open
  std::string rules = {};
  LeaseKind kind = LeaseKind::kPrint;
  std::optional<std::chrono::milliseconds> duration = {};  // none: until it is ended
  std::uint64_t max_lines = 0;                             // 0: no limit
  std::string owner = {};                                  // who asked: shown, not checked
  std::string reason = {};
  std::uint64_t replaces = 0;  // a lease that ends in the same change; append is then implied. 0: none
  std::uint64_t max_rate = 0;  // lines a second, of kPrint; 0: no limit
  std::uint32_t sample = 1;    // one in so many transactions, 1 to kSampleMost; see in_sample()
  bool held = false;           // of kFollow: what it alone asks for goes to no output (capture.h)
  // Outputs that its lines go to, instead of where debug lines go. A line that others ask for too goes where they say
  // besides. One that is not configured then (OutputConfig) loses them, counted. 0: where debug lines go.
  RouteBits to = 0;
};

struct Lease {
  std::uint64_t id = 0;
  std::string tags;
  std::string client_ip = {};
  std::string rules = {};
  LeaseKind kind = LeaseKind::kPrint;
  std::uint64_t max_lines = 0;
  std::string owner = {};
  std::string reason = {};
  std::chrono::system_clock::time_point opened = {};
  std::chrono::steady_clock::time_point opened_steady = {};
  std::optional<std::chrono::steady_clock::time_point> ends = {};
  std::uint64_t lines = 0;  // asked for so far; at most max_lines where there is a limit
  std::uint64_t max_rate = 0;
  std::uint32_t sample = 1;
  // For being above max_rate, in order: the rule each has been excluded by, and what it had written.
  struct TakenBack {
    std::string rule;       // "-file=http1/session.cc line=95"
    double lines_per_s = 0;
  };
  std::vector<TakenBack> taken_back = {};
  RouteBits to = 0;  // LeaseRequest::to
};

inline constexpr std::size_t kLeasesMax = 62;
inline constexpr std::uint32_t kSampleMost = 1'000'000;
inline constexpr std::uint64_t kMaxRateMost = 1'000'000'000;
inline constexpr std::size_t kLeaseTextBytesMax = 256;  // of owner and reason
inline constexpr std::chrono::hours kLeaseDurationMax{24 * 30};

struct OpenedLease {
  Lease lease;
  std::vector<std::string> tags_on;  // in order of name: tags it has on now, everywhere or at some site
  std::uint32_t sites_on = 0;        // loaded sites it has on now
};
// Errors: a bad pattern, rule, address or duration; a text that is too long; kLeasesMax are open; no lease
// with the id of `replaces`. Nothing is changed then.
TELLTALE_EXPORT tl::expected<OpenedLease, Refusal> open_lease(
    const LeaseRequest& request, std::chrono::steady_clock::time_point now = std::chrono::steady_clock::now());
// In order of opening.
TELLTALE_EXPORT std::vector<Lease> leases();
// Empty: there is none of that id.
TELLTALE_EXPORT std::optional<Lease> end_lease(std::uint64_t id);
// Ends all of them; returns how many there were.
TELLTALE_EXPORT std::size_t end_leases();

enum class LeaseEnd : std::uint8_t { kTime, kLines };
struct EndedLease {
  Lease lease;
  LeaseEnd why;
};
// Takes back the leases whose time is up at `now` or whose lines are spent, with a note for each.
TELLTALE_EXPORT std::vector<EndedLease> expire_leases(std::chrono::steady_clock::time_point now);
// Takes back what leases above their max_rate write the most of, with a note for each lease, and returns how
// many leases those were. A lease may have max_rate lines at once, and max_rate a second more. To be called at
// next_rate_check().
TELLTALE_EXPORT std::size_t limit_leases(std::chrono::steady_clock::time_point now);
// Empty: no lease has a max_rate.
TELLTALE_EXPORT std::optional<std::chrono::steady_clock::time_point> next_rate_check();
inline constexpr std::chrono::milliseconds kRateCheckEvery{100};

// Is this transaction one of the one in `sample`? Decided by its number alone, so all threads agree, and those
// of 1/1000 are among those of 1/100.
TELLTALE_EXPORT bool in_sample(std::uint64_t transaction, std::uint32_t sample) noexcept;

// The earliest end of an open lease; empty: none has an end.
TELLTALE_EXPORT std::optional<std::chrono::steady_clock::time_point> next_lease_end();
// Called, by whichever thread took it, after the last line of a lease's limit. Must neither block nor
// write a line. Null: nobody. Set it before leases are open.
TELLTALE_EXPORT void on_lease_spent(void (*notify)(void*) noexcept, void* with) noexcept;

}  // namespace telltale::diag
