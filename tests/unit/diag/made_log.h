// SPDX-License-Identifier: Apache-2.0
#pragma once
// MadeLog: the bytes of a record log, made line by line, for tests of what reads it.
//
// **Thread safety:** thread-compatible.

#include <cstring>
#include <string>
#include <string_view>

#include "lib/diag/src/record_log_writer.h"
#include "tests/unit/diag/record_bytes.h"

namespace telltale::diag {

inline constexpr std::int64_t kMadeWallNs = 1'796'000'000'000'000'000;  // 2026-11-30T00:53:20Z

// Sites have their tag by number.
class MadeNames : public LogNames {
 public:
  LogSite site(std::uint32_t number) const override {
    static constexpr std::string_view kTags[] = {"", "http", "cache", "dns"};
    return {number, number, 40 + number, kTags[number], "{}", "session.cc", "run", "telltale"};
  }
  std::string plugin(std::uint32_t number) const override { return "plugin" + std::to_string(number); }
};

struct MadeLine {
  std::string_view text;
  std::int64_t second = 0;  // of the time of day and of ticks; see MadeLog::ticks_ahead
  std::uint64_t connection = 0, transaction = 0;
  std::uint32_t site = 1;
  Level level = Level::kDebug;
  std::uint16_t thread = 0;
};

class MadeLog {
 public:
  explicit MadeLog(std::uint32_t pid = 1) : writer_(names_, start(pid)) {
    writer_.name_thread(0, "worker-0");
    writer_.name_thread(1, "worker-1");
    bytes = writer_.beginning({{1, pid}}, kMadeWallNs);
  }

  MadeLog& line(const MadeLine& line) {
    RecordBytes record(line.text);
    RecordHeader& header = record.header();
    header.site = line.site;
    header.level = line.level;
    header.connection = line.connection;
    header.transaction = line.transaction;
    header.ticks = static_cast<std::uint64_t>(line.second + ticks_ahead);
    std::string all(record.data(), header.size_bytes);
    std::memcpy(all.data(), &header, sizeof header);
    writer_.record(bytes, line.thread, header, all.data(), kMadeWallNs + line.second * 1'000'000'000);
    return *this;
  }
  MadeLog& loss(const LogLoss& loss) {
    writer_.loss(bytes, loss);
    return *this;
  }
  // What has been made so far, and nothing; what follows is another file of the same process.
  std::string roll() {
    std::string former = std::move(bytes);
    bytes = writer_.beginning({{2, 2}}, kMadeWallNs);
    return former;
  }

  std::string bytes;
  std::int64_t ticks_ahead = 0;

 private:
  static LogStart start(std::uint32_t pid) {
    LogStart start;
    start.pid = pid;
    start.show_location = ShowLocation::kNever;
    return start;
  }

  MadeNames names_;
  RecordLogWriter writer_;
};

}  // namespace telltale::diag
