// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lane: one place lines go to (stdout, stderr, log file, extra sink), with its batch and its losses.
//
// **Thread safety:** backend only.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <system_error>

#include <telltale/diag/output.h>

#include "stream_sink.h"

namespace telltale::diag {

struct Lane {
  StreamSink* stream = nullptr;  // one of the two, or none
  Sink* extra = nullptr;
  std::string name;     // as a reader knows it
  std::string batch;    // whole lines
  std::uint64_t lost = 0;  // lines not taken since the last one that was
  std::string reason;      // of the loss
  std::chrono::steady_clock::time_point tried{};

  // Lines not taken; of an extra sink that refuses, all of them.
  std::uint64_t write(std::string_view lines) noexcept {
    if (stream != nullptr) {
      std::uint64_t n = stream->write(lines);
      if (n > 0) reason = std::generic_category().message(stream->error());
      return n;
    }
    if (extra != nullptr && extra->write(lines)) return 0;
    reason = extra != nullptr ? "refused by the sink" : "there is no such sink";
    return static_cast<std::uint64_t>(std::count(lines.begin(), lines.end(), '\n'));
  }
};

}  // namespace telltale::diag
