// SPDX-License-Identifier: Apache-2.0
#pragma once
// From an event of a record log to text: the line that the text sink writes for it, byte for byte, or one JSON
// object. The backend takes its own sentences from here, so that there is one wording.
//
//   {"time":"2026-11-30T10:00:00.123456Z","level":"DEBUG","tag":"http1","file":"http1/session.cc","line":95,
//    "function":"run","module":"telltale","thread":"worker-0","connection":12,"transaction":345,
//    "plugin":"header_note","text":"...","fields":{"status":200}}
//
// A key is left out where there is nothing to tell. Text is escaped as in lines, and is without fields. A loss has
// "lost", the number of lines, besides.
//
// **Thread safety:** thread-compatible.

#include <cstdint>
#include <string>
#include <string_view>

#include "line.h"
#include "record_log_event.h"

namespace telltale::diag {

// Of lines that the library writes of itself.
Origin own_origin() noexcept;
// "3 debug lines of tag http lost here: the ring was full". `reason`, `detail`: see LossContent, LogLoss.
std::string_view level_word(Level level) noexcept;              // "debug"
std::string_view loss_reason(std::uint8_t reason) noexcept;     // of a DropReason: "the ring was full"
std::string loss_text(std::uint64_t lost, Level level, bool of_other_tags, std::string_view tag, std::uint8_t reason,
                      std::string_view detail);
std::string step_text(std::int64_t step_ns);

class LogLineWriter {
 public:
  // One whole line, ended by '\n'.
  void append(std::string& out, const LogEvent& event, ShowLocation show);
  void append_json(std::string& out, const LogEvent& event);

 private:
  std::string_view text(const LogEvent& event, bool with_fields);
  void append_fields(std::string& out, const LogEvent& event);

  LineWriter lines_;
  std::string own_text_, escaped_;
};

}  // namespace telltale::diag
