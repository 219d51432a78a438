// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lane: one place records go to, with its batch, its losses, and what others are shown of it.
//
// | form          | lanes                                        | handed over                              |
// | lines         | stdout, stderr, log file, extra Sink         | one batch a pass, or 64 KiB              |
// | JSON          | json, of entries                             | likewise                                 |
// | frames        | binary log                                   | likewise                                 |
// | entries       | syslog, journald, extra EntrySink            | each, as it comes (backend_entries.cc)   |
//
// **Thread safety:** backend only.

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <string>
#include <system_error>

#include <telltale/diag/output.h>

#include "batch_origins.h"
#include "binary_sink.h"
#include "file_sink.h"
#include "stream_sink.h"

namespace telltale::diag {

enum LaneIndex : std::size_t {  // bits of Route, counted
  kStdoutLane,
  kStderrLane,
  kLogLane,
  kExtraLane,
  kBinaryLane,
  kJsonLane,
  kSyslogLane,
  kJournaldLane,
};
inline constexpr std::size_t kLanes = 8;
inline constexpr std::size_t kBatchBytes = 65536;  // beyond these a batch is written
inline constexpr unsigned kFailuresTold = 3;       // in a row: the other lanes are told

struct Lane {
  StreamSink* stream = nullptr;  // one of the five, or none
  FileSink* file = nullptr;
  Sink* extra = nullptr;
  BinarySink* binary = nullptr;
  EntrySink* entries = nullptr;
  std::string name;     // as a reader knows it
  std::string batch;    // whole lines, or frames
  BatchOrigins origins; // of the batch's lines
  std::uint64_t lost = 0;  // lines not taken since the last one that was
  std::string reason;      // of the loss
  std::chrono::steady_clock::time_point tried{};
  unsigned failures = 0;   // writes in a row that were not taken whole
  bool told = false;       // others were told of them
  std::uint64_t lost_when_told = 0;  // shown.lost, before the losses they were told of
  SinkState shown;  // counts since the process began

  RotatingFile* rotating() const noexcept {
    return file != nullptr ? &file->file() : binary != nullptr ? &binary->file() : nullptr;
  }

  // Lines not taken of the `count` there are, the last ones; of an extra sink that refuses, all of them.
  std::uint64_t write(std::string_view lines, std::uint64_t count) noexcept {
    if (binary != nullptr) {
      std::uint64_t n = binary->write(lines, count, FileTime::now());
      if (n > 0) reason = std::generic_category().message(binary->error());
      return n;
    }
    if (stream != nullptr || file != nullptr) {
      std::uint64_t n = stream != nullptr ? stream->write(lines) : file->write(lines, FileTime::now());
      int error = stream != nullptr ? stream->error() : file->error();
      if (n > 0) reason = error == EAGAIN ? "nobody reads it" : std::generic_category().message(error);
      return n;
    }
    if (extra != nullptr && extra->write(lines)) return 0;
    reason = extra != nullptr ? "refused by the sink" : "there is no such sink";
    return count;
  }
};

}  // namespace telltale::diag
