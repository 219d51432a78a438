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

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <telltale/diag/argument.h>
#include <telltale/diag/record.h>
#include <telltale/diag/ring_front.h>
#include <telltale/diag/scope.h>
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

namespace dbg_detail {
constexpr std::size_t whole(std::size_t bytes) noexcept { return (bytes + 7) & ~std::size_t{7}; }

// Is there room in the thread's ring, so that the record may be written here? Else the library does it.
[[gnu::always_inline]] inline bool fits(const ThreadRecords& mine, const Site& site, std::size_t bytes) noexcept {
  return __builtin_expect(mine.asked == &site, 1) && __builtin_expect(mine.asked_number - 1 < kSiteNumberMost, 1) &&
         __builtin_expect(!mine.front.open, 1) && __builtin_expect(mine.front.positions->plain.load(std::memory_order_relaxed) != 0, 1) && __builtin_expect(mine.front.write + bytes <= mine.front.limit, 1);
}

// What begin_record() does, at a record's first byte. The stamp comes after the room, so that a thread's stamps never
// go back.
[[gnu::always_inline]] inline void begin_at(char* start, std::uint32_t number, std::uint8_t arguments) noexcept {
  RecordHeader* header = reinterpret_cast<RecordHeader*>(start);
  const Context* context = tl_context;
  header->site = number;
  std::uint64_t plugin = 0, followed = 0;
  if (context != nullptr) [[likely]] {
    header->connection = context->connection;
    header->transaction = context->transaction;
    plugin = context->plugin;
    followed = context->followed != 0 ? std::uint64_t{kRecordFollowed} << 48 : 0;
  } else {
    header->connection = 0;
    header->transaction = 0;
  }
#if defined(__x86_64__)
  // Plugin, level, argument_count and flags in one store.
  static_assert(static_cast<std::uint8_t>(Level::kDebug) == 0 && offsetof(RecordHeader, argument_count) == offsetof(RecordHeader, plugin) + 5);
  const std::uint64_t word = plugin | std::uint64_t{arguments} << 40 | followed;
  std::memcpy(&header->plugin, &word, sizeof word);
  header->ticks = __builtin_ia32_rdtsc();
#else
  header->plugin = static_cast<std::uint32_t>(plugin);
  header->level = Level::kDebug;
  header->argument_count = arguments;
  header->flags = static_cast<std::uint16_t>(followed >> 48);
#endif
}

// What end_record() does. The one store that readers see the record by is the last.
[[gnu::always_inline]] inline void end_at(RingFront& front, char* start, char* end) noexcept {
  const std::size_t bytes = whole(static_cast<std::size_t>(end - start));
  reinterpret_cast<RecordHeader*>(start)->size_bytes = static_cast<std::uint32_t>(bytes);
  const std::uint64_t write = front.write + bytes;
  front.write = write;
  RingPositions& positions = *front.positions;
  positions.records.store(positions.records.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  positions.published.store(write, std::memory_order_release);
  if (write >= front.look_at) [[unlikely]] ring_reached();
}

// Formats a value of its own: code that may write records runs while the record is open.
template <class S>
inline constexpr bool runs_code = false;
template <class T>
inline constexpr bool runs_code<Eager<T>> = true;
template <class S>
inline constexpr bool runs_code<StoredField<S>> = runs_code<S>;
}  // namespace dbg_detail

template <class... S>
[[gnu::noinline, gnu::cold]] void write_by_call(const Site& site, S... s) {
  char* at = begin_site_record(site, (room(s) + ... + 0));
  if (at == nullptr) return;
  ((at = put(at, s)), ...);
  end_record(at, sizeof...(S));
}

// The enabled site's way into the ring: one function per list of stored argument types, shared by all
// sites that have it. It is handed the site, so that the caller, whose disabled path pays for every register
// that is kept across a call, makes one call only. As a rule it makes no call itself, and so keeps no register
// either. Not cold: g++ makes cold code small, not fast.
template <class... S>
[[gnu::noinline]] void write_stored(const Site& site, S... s) {
  static_assert(sizeof...(S) <= 32, "at most 32 arguments");
  static_assert((room_max<S> + ... + sizeof(RecordHeader)) <= kRecordBytesMax, "these may not fit into one record");
  constexpr bool kRunsCode = (dbg_detail::runs_code<S> || ... || false);
  ThreadRecords& mine = tl_records;
  RingFront& front = mine.front;
  const std::size_t most = dbg_detail::whole(sizeof(RecordHeader) + (room(s) + ... + 0));
  if (!dbg_detail::fits(mine, site, most)) [[unlikely]] return write_by_call(site, s...);
  char* start = front.data + (front.write & front.mask);
  dbg_detail::begin_at(start, mine.asked_number, sizeof...(S));
  if constexpr (kRunsCode) front.open = true;
  char* at = start + sizeof(RecordHeader);
  ((at = put(at, s)), ...);
  if constexpr (kRunsCode) front.open = false;
  dbg_detail::end_at(front, start, at);
}

// site_wanted(), which is asked only where the site is not plainly on (src/plain_site.h). One a module.
[[gnu::noinline]] TELLTALE_HIDDEN inline bool wanted(const Site& site, bool flag) noexcept {
  ThreadRecords& mine = tl_records;
  const std::uint32_t number =
      site.plain.load(std::memory_order_acquire) ^ mine.front.positions->plain.load(std::memory_order_relaxed);
  if (number - 1 >= kSiteNumberMost) return site_wanted(site, flag);
  mine.asked = &site;
  mine.asked_number = number;
  return true;
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
      if (::telltale::diag::wanted(::telltale::diag::SiteOf<telltale_here>::site, FLAG)) { \
        ::telltale::diag::write_dbg<telltale_here>(FORMAT __VA_OPT__(, ) __VA_ARGS__);       \
      }                                                                                      \
    }                                                                                        \
  } while (0)

#define Dbg(CTL, FORMAT, ...) TELLTALE_DBG(CTL, false, false, FORMAT __VA_OPT__(, ) __VA_ARGS__)

// Prints where the tag is on, or where FLAG is true and debug is on at all (modes in DESIGN, section 3).
#define SpecificDbg(FLAG, CTL, FORMAT, ...) TELLTALE_DBG(CTL, true, (FLAG), FORMAT __VA_OPT__(, ) __VA_ARGS__)
