// SPDX-License-Identifier: Apache-2.0
#pragma once
// LogEvent: one thing a record log (or a recorder's ring with its dictionary) tells, ready to be shown.
//
// **Thread safety:** thread-compatible. Views point into the log's buffer and dictionary; who made the event says
// how long they live.

#include <cstdint>
#include <string_view>

#include <telltale/diag/output.h>
#include <telltale/diag/record.h>

#include "line.h"

namespace telltale::diag {

enum class LogEventKind : std::uint8_t { kRecord, kLoss, kNotice, kStep };

struct LogEvent {
  LogEventKind kind = LogEventKind::kRecord;
  // As a line has it. Of what is no record: level kWarning (a notice: its own), tag and place of the library.
  LineHead head;
  ShowLocation show_location = ShowLocation::kDebugLines;  // as the writer was configured
  std::uint64_t ticks = 0;
  std::uint64_t process = 0;  // told apart from any other; connections and transactions are numbered in it

  // Of a record. Its origin has been taken from the arguments, so read them with record_arguments().
  RecordHeader header{};
  const char* record = nullptr;

  // Of a loss.
  std::uint64_t lost = 0;
  Level lost_level = Level::kDebug;
  std::string_view lost_tag;   // empty: none known
  bool of_other_tags = false;  // of several tags and levels

  std::string_view text;        // of a notice
  std::int64_t step_ns = 0;     // of a step
  std::uint8_t reason = 0;      // of a loss, with `detail`: see LossContent
  std::string_view detail;
};

// The arguments that belong to the format. REQUIRES: event.kind is kRecord.
RecordReader record_arguments(const LogEvent& event) noexcept;

}  // namespace telltale::diag
