// SPDX-License-Identifier: Apache-2.0
#pragma once
// Record submission: the one way in. Every call of the library, whatever its flavour, ends here.
//
// A record is written in place into the calling thread's ring: begin_record() reserves, the encoders of
// argument.h fill, end_record() publishes with one release store. What does not fit is dropped and
// counted. Nothing is formatted here but types that cannot be copied.
//
// Layout: RecordHeader, then arguments. `site` != 0: the registry's dictionary has tag, format, file,
// line and function under that number. `site` == 0: the first five arguments are tag, file, function,
// format (strings) and line (unsigned), then the format's own.
//
// **Thread safety:** thread-safe; each thread writes its own ring. Not for signal handlers.
// Cost: no lock, no system call, no allocation, but for a thread's first record, which maps its ring.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <telltale/diag/argument.h>
#include <telltale/diag/export.h>

namespace telltale::diag {

enum class Level : std::uint8_t { kDebug, kStatus, kNote, kWarning, kError, kFatal, kAlert, kEmergency };
inline constexpr std::size_t kLevels = 8;

inline constexpr std::uint16_t kRecordFollowed = 1;  // its context is followed
// Nobody asks for it where its level goes: only leases with outputs of their own (LeaseRequest::to) or none (held).
inline constexpr std::uint16_t kRecordElsewhere = 2;
inline constexpr unsigned kRecordToShift = 4;  // and mask: the outputs that leases name, as RouteBits
inline constexpr std::uint16_t kRecordToMask = 0x3FF0;

struct RecordHeader {
  std::uint32_t size_bytes;    // header and arguments, rounded up to 8
  std::uint32_t site;          // dictionary number; 0 = the record names its own origin
  std::uint64_t ticks;         // clock of ticks.h
  std::uint64_t connection;    // 0 = none
  std::uint64_t transaction;   // 0 = none
  std::uint32_t plugin;        // plugin_number(); 0 = core
  Level level;
  std::uint8_t argument_count; // fields included
  std::uint16_t flags;         // kRecordFollowed ...
};
static_assert(sizeof(RecordHeader) == 40);

// Reserves room for a record of at most `room_bytes` of arguments and fills the header from the
// thread's scope. `tag` (number from the registry, 0 = none) is what a drop is counted under.
// Returns where the first argument goes, or null: dropped and counted; then end_record() is not called.
TELLTALE_EXPORT char* begin_record(std::uint32_t site, std::uint32_t tag, Level level, std::size_t room_bytes) noexcept;
// The same for a record of site 0; a drop is counted under the tag of that name, if the registry knows it.
TELLTALE_EXPORT char* begin_located(std::string_view tag, Level level, std::size_t room_bytes) noexcept;
// Publishes. `end` is the byte behind the last argument. A formatter that writes a record of its own
// between begin and end loses that one, counted.
TELLTALE_EXPORT void end_record(char* end, std::uint8_t argument_count) noexcept;

// The origin of a record that has no site: level lines, and calls whose tag is a string.
struct Located {
  Level level;
  std::string_view tag;
  const char* file;
  const char* function;
  std::uint32_t line;
  const char* format;
};
template <class... S>
[[gnu::noinline]] void write_located(const Located& o, S... s) {
  static_assert(sizeof...(S) <= 27, "at most 27 arguments");
  static_assert((room_max<S> + ... + (sizeof(RecordHeader) + 5 * room_max<std::string_view>)) <= kRecordBytesMax,
                "these may not fit into one record");
  std::string_view file = o.file, function = o.function, format = o.format;
  unsigned long long line = o.line;
  char* at = begin_located(
      o.tag, o.level, room(o.tag) + room(file) + room(function) + room(format) + room(line) + (room(s) + ... + 0));
  if (at == nullptr) return;
  at = put(put(put(put(put(at, o.tag), file), function), format), line);
  ((at = put(at, s)), ...);
  end_record(at, 5 + sizeof...(S));
}

// Interns a plugin's name for Context::plugin. Same name, same number. May allocate; never fails.
TELLTALE_EXPORT std::uint32_t plugin_number(std::string_view name);

}  // namespace telltale::diag
