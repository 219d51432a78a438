// SPDX-License-Identifier: Apache-2.0
#pragma once
// JournalEncoder: from a record to the datagram that systemd-journald takes (its native protocol).
//
//   PRIORITY=7 SYSLOG_IDENTIFIER=proxy SYSLOG_FACILITY=3 SYSLOG_PID=4711 TID=4712 CODE_FILE=http1/session.cc CODE_LINE=95
//   CODE_FUNC=on_request DIAG_TAG=http DIAG_TXN=345 DIAG_CONN=12 DIAG_PLUGIN=header_note DIAG_CLIENT=192.0.2.1 MESSAGE=text
//   STATUS=200 ...
//
// one line each. What is 0 or empty is left out; PRIORITY, SYSLOG_FACILITY and MESSAGE always stand there. No value of
// a record can begin a field or an entry: one with a line feed is written in binary form, with its length, and names are
// made of A-Z, 0-9 and '_' only.
//
// | the level is             | DEBUG | STATUS | NOTE | WARNING | ERROR | FATAL | ALERT | EMERGENCY | unknown       |
// | PRIORITY is              | 7     | 6      | 5    | 4       | 3     | 2     | 1     | 0         | 6, counted    |
//
// | a record's own field is named  | it is sent as                                                    |
// | `status`, `a-b`                | `STATUS`, `A_B`: upper case, `_` for what a name may not hold    |
// | `_x`, `1x`                     | `X_x`, `X1x`, upper case: neither may begin a name               |
// | one of the names above, or one that journald acts on | `X_` and the name: each of those stands once |
// | longer than 64 bytes           | cut                                                              |
// | nothing                        | not at all, counted                                              |
//
// Of a record's own fields 64 are sent, because journald drops an entry with too many; how many were not is said in
// DIAG_FIELDS_DROPPED. Names that meet are all sent: a journal keeps several values of a field.
//
// **Thread safety:** thread-compatible. Cost: no lock, no system call; allocates where a record is larger than all before.
// **Source:** systemd's "Native Journal Protocol", systemd.journal-fields(7).

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include <telltale/diag/record.h>

namespace telltale::diag {

struct JournalField {
  std::string_view name, value;
};

// Views of the caller's, for the time of one call.
struct JournalRecord {
  Level level = Level::kDebug;
  std::string_view message;  // one line feed at its end is taken off; empty: the tag stands there
  std::string_view identifier, file, function, tag, plugin, client;
  std::uint32_t line = 0;  // 0 where there is no file
  unsigned facility = 3;   // RFC 5424's number, 3 is daemons; it always stands there
  std::uint32_t process = 0, thread = 0;
  std::uint64_t transaction = 0, connection = 0;
  std::span<const JournalField> fields = {};
  // Of fields of one name only the first is sent, and the others are counted as dropped.
  bool unique_fields = false;
};

class JournalEncoder {
 public:
  static constexpr std::size_t kFieldsMax = 64;      // of a record's own
  static constexpr std::size_t kNameBytesMax = 64;

  // One entry, at most one datagram. Valid until the next call.
  std::string_view encode(const JournalRecord& record);

  std::uint64_t fields_dropped() const noexcept { return fields_dropped_; }
  std::uint64_t unknown_levels() const noexcept { return unknown_levels_; }

 private:
  char* reserve(const JournalRecord& record);
  char* put_fields(char* at, const JournalRecord& record);

  std::unique_ptr<char[]> buffer_;
  std::size_t capacity_bytes_ = 0;
  std::array<std::string_view, kFieldsMax> names_;  // sent in this entry; of use while it is encoded
  std::uint64_t fields_dropped_ = 0, unknown_levels_ = 0;
};

}  // namespace telltale::diag
