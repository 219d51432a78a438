// SPDX-License-Identifier: Apache-2.0
#pragma once
// Entry: one record as its parts, for sinks that keep them apart (journald, syslog, JSON), and EntrySink, which takes them.
//
// A sink says by its type what it takes: a Sink (output.h) whole lines, an EntrySink entries. The backend makes each
// form once per record, and only where a sink of that record's level takes it.
//
//   class Table : public telltale::diag::EntrySink {
//     bool write(const telltale::diag::Entry& e) noexcept override { return insert(e.wall_ns, e.tag, e.message); }
//   };
//   telltale::diag::set_extra_sink(std::make_shared<Table>());
//
// All text is as in lines: valid UTF-8, without line ends and control characters, a backslash as `\\` (the table is in
// docs/diagnostics.md). Only the message of a record of several lines (a header's dump) has a '\n' between each two.
//
// **Thread safety:** an EntrySink is called by the backend only, one call at a time.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <telltale/diag/export.h>
#include <telltale/diag/record.h>

namespace telltale::diag {

// What a field()'s value was. Text of numbers is JSON's; a float that is not finite is kText.
enum class FieldKind : std::uint8_t { kText, kNumber, kBool };

struct EntryField {
  std::string_view name, value;
  FieldKind kind = FieldKind::kText;
};

// Views are valid for the time of one call. What is empty or 0 is not known, or there is none.
struct Entry {
  std::int64_t wall_ns = 0;  // since 1970, UTC
  Level level = Level::kDebug;
  std::uint32_t line = 0, thread_id = 0;  // thread_id: the kernel's
  std::string_view tag, file, function, module, thread, plugin;
  std::string_view client;  // its address
  std::uint64_t connection = 0, transaction = 0;
  std::string_view message;  // without the fields; perhaps of several lines
  std::span<const EntryField> fields;
  std::uint64_t lost = 0;  // of an entry that tells of a loss: how many are missing
};

struct SinkCount {
  std::string name;
  std::uint64_t count = 0;
};

// May block, must not throw; while it blocks, rings fill, and other sinks wait too.
class TELLTALE_EXPORT EntrySink {
 public:
  virtual ~EntrySink() = default;
  // False: it was not taken. It is counted as lost; the next ones within 10 ms are too, without a call. The first entry
  // that is taken again says how many (Entry::lost).
  virtual bool write(const Entry& entry) noexcept = 0;
  // Behind the last one for now: what write() has kept must go. Returns how many of those were not taken.
  virtual std::uint64_t flush() noexcept { return 0; }
  // Of entries that were counted as lost without a call of write().
  virtual void missed([[maybe_unused]] std::uint64_t entries) noexcept {}
  // Why the last one was not taken, for readers.
  virtual std::string reason() const { return "refused by the sink"; }
  // What is to be told of its state, once per change; empty: nothing. Asked behind each pass, and told as a note to the
  // sinks of notes but this one.
  virtual std::string take_notice() { return {}; }
  // Figures of its own, for output_status().
  virtual std::vector<SinkCount> counts() const { return {}; }
};

}  // namespace telltale::diag
