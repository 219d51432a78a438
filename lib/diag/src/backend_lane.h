// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lane: one place lines go to (stdout, stderr, log file, extra sink), with its batch, its losses, and what
// others are shown of it.
//
// **Thread safety:** backend only.

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <string>
#include <system_error>

#include <telltale/diag/output.h>

#include "file_sink.h"
#include "stream_sink.h"

namespace telltale::diag {

struct Lane {
  StreamSink* stream = nullptr;  // one of the three, or none
  FileSink* file = nullptr;
  Sink* extra = nullptr;
  std::string name;     // as a reader knows it
  std::string batch;    // whole lines
  std::uint64_t batch_lines = 0;
  std::uint64_t lost = 0;  // lines not taken since the last one that was
  std::string reason;      // of the loss
  std::chrono::steady_clock::time_point tried{};
  SinkState shown;  // counts since the process began

  // Lines not taken; of an extra sink that refuses, all of them.
  std::uint64_t write(std::string_view lines) noexcept {
    if (stream != nullptr || file != nullptr) {
      std::uint64_t n = stream != nullptr ? stream->write(lines) : file->write(lines, FileTime::now());
      int error = stream != nullptr ? stream->error() : file->error();
      if (n > 0) reason = error == EAGAIN ? "nobody reads it" : std::generic_category().message(error);
      return n;
    }
    if (extra != nullptr && extra->write(lines)) return 0;
    reason = extra != nullptr ? "refused by the sink" : "there is no such sink";
    return static_cast<std::uint64_t>(std::count(lines.begin(), lines.end(), '\n'));
  }
};

}  // namespace telltale::diag
