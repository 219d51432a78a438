// SPDX-License-Identifier: Apache-2.0
#pragma once
// Debug lines for C++ code: DbgCtl, Dbg, SpecificDbg, field.
//
//   constexpr DbgCtl http_dbg{"http"};                        // a tag, known at compile time
//   Dbg(http_dbg, "client {} asked for {}", peer, url);       // a site
//   Dbg(http_dbg, "stored {}", key, field("status", code));   // text prints " status=200"
//
// Off, a site costs one compare with memory and one branch: arguments are not evaluated. On, it copies
// its arguments into the thread's ring (see record.h). Formats are fmt's, checked at compile time; tag
// and format must be constant expressions.
//
// This is the one header of the library that adds names to the global namespace: the macros, DbgCtl and
// field, because their users know them by these names.
//
// **Thread safety:** thread-safe, from static constructors to static destructors.

#include <telltale/diag/argument.h>
#include <telltale/diag/record.h>
#include <telltale/diag/site.h>
#include <telltale/diag/tag.h>

#ifdef TELLTALE_TS_DEBUG_FAMILY
#error "both debug families in one file: define TELLTALE_SITES before ts/ts.h, which then brings <telltale/diag/dbg.h> itself"
#endif

namespace telltale::diag {

// A debug control: names the tag that sites share. Holds no state.
struct DbgCtl {
  const char* tag;
  consteval explicit DbgCtl(const char* t) : tag(t) {
    if (!valid_tag(t)) throw "a tag is 1 to 64 bytes of printable ASCII without space and '%'";
  }
};

// The enabled site's way into the ring: one function per list of stored argument types, shared by all
// sites that have it. It asks the site for its numbers, so that the caller, whose disabled path pays for
// every register that is kept across a call, makes one call only.
template <class... S>
[[gnu::noinline, gnu::cold]] void write_stored(const Site& site, S... s) {
  static_assert(sizeof...(S) <= 32, "at most 32 arguments");
  char* at = begin_record(site_number(site), site_tag_number(site), Level::kDebug, (room(s) + ... + 0));
  if (at == nullptr) return;
  ((at = put(at, s)), ...);
  end_record(at, sizeof...(S));
}

// FORMAT is checked here and kept in the site's metadata. The arguments have been evaluated by now, so the
// site's address need not outlive the calls in them.
template <class Here, class... A>
[[gnu::always_inline]] inline void write_dbg(std::type_identity_t<CheckedFormat<A...>>, const A&... a) {
  TELLTALE_SITE_AGAIN(site, Here);
  write_stored(*site, stored(a)...);
}

}  // namespace telltale::diag

using telltale::diag::DbgCtl;  // NOLINT: see above
using telltale::diag::field;   // NOLINT: see above

#define TELLTALE_DBG(CTL, SPECIFIC, FLAG, FORMAT, ...)                                       \
  do {                                                                                       \
    struct telltale_here {                                                                   \
      static constexpr const char* tag() { return (CTL).tag; }                               \
      static constexpr const char* format() { return FORMAT; }                               \
      static constexpr const char* file() { return __FILE__; }                               \
      static constexpr const char* function() { return __PRETTY_FUNCTION__; }                \
      static constexpr unsigned line() { return __LINE__; }                                  \
      static constexpr bool specific() { return SPECIFIC; }                                  \
    };                                                                                       \
    TELLTALE_SITE_ON(telltale_on, telltale_here);                                            \
    if (telltale_on) [[unlikely]] {                                                          \
      if (::telltale::diag::site_wanted(::telltale::diag::SiteOf<telltale_here>::site, FLAG)) { \
        ::telltale::diag::write_dbg<telltale_here>(FORMAT __VA_OPT__(, ) __VA_ARGS__);       \
      }                                                                                      \
    }                                                                                        \
  } while (0)

#define Dbg(CTL, FORMAT, ...) TELLTALE_DBG(CTL, false, false, FORMAT __VA_OPT__(, ) __VA_ARGS__)

// Prints where the tag is on, or where FLAG is true and debug is on at all (modes in DESIGN, section 3).
#define SpecificDbg(FLAG, CTL, FORMAT, ...) TELLTALE_DBG(CTL, true, (FLAG), FORMAT __VA_OPT__(, ) __VA_ARGS__)
