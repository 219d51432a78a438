// SPDX-License-Identifier: Apache-2.0
#pragma once
// From an event of a record log to text: the line that the text sink writes for it, byte for byte, or the one JSON
// object (entry_json.h). The backend takes its own sentences from here, so that there is one wording.
//
// **Thread safety:** thread-compatible.

#include <cstdint>
#include <string>
#include <string_view>

#include "entry_json.h"
#include "entry_maker.h"
#include "line.h"
#include "record_log_event.h"

namespace telltale::diag {

// Of lines that the library writes of itself.
Origin own_origin() noexcept;
// "3 debug lines of tag http lost here: the ring was full". `reason`, `detail`: see LossContent, LogLoss.
std::string_view level_word(Level level) noexcept;              // "debug"
std::string_view level_word_upper(Level level) noexcept;        // "DEBUG"
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

  LineWriter lines_;
  EntryMaker entries_;
  EntryJson json_;
  std::string own_text_;
  std::size_t lines_bytes_ = 0;  // of the last text(): see LineWriter
};

}  // namespace telltale::diag
