// SPDX-License-Identifier: Apache-2.0
#pragma once
// An entry as one line of JSON:
//
//   {"time":"2026-11-30T10:00:00.123456789Z","level":"DEBUG","tag":"http1","file":"http1/session.cc","line":95,
//    "function":"run","module":"telltale","thread":"worker-0","tid":4711,"connection":12,"transaction":345,
//    "plugin":"header_note","client":"192.0.2.1","text":"...","fields":{"status":200}}
//
// A key is left out where there is nothing to tell; "time", "level" and "text" always stand there. Of a name that
// several fields have, the first keeps it and the others get "#2", "#3" behind it: a JSON object has each once. An
// entry that tells of a loss has "lost", the number of lines, besides.
//
// **Thread safety:** thread-compatible.

#include <cstdint>
#include <string>

#include <telltale/diag/entry.h>

#include "line.h"

namespace telltale::diag {

class EntryJson {
 public:
  // Ended by '\n'.
  void append(std::string& out, const Entry& entry);

 private:
  LineWriter lines_;  // for the time
};

// "2026-11-30T10:00:00.123456789Z"
void append_nanoseconds(std::string& out, LineWriter& lines, std::int64_t wall_ns);

}  // namespace telltale::diag
