// SPDX-License-Identifier: Apache-2.0
#pragma once
// LogFile: a record log on disk, as events. Plain, or compressed with zstd as rolled files are.
//
// **Thread safety:** thread-compatible. Memory: a frame, a piece of the file, the log's dictionary.

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <tl/expected.hpp>

#include "record_log_reader.h"

namespace telltale::diag {

class LogFile {
 public:
  // Errors: a sentence with path and reason.
  static tl::expected<std::unique_ptr<LogFile>, std::string> open(const std::string& path);
  ~LogFile();
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  enum class Got : std::uint8_t { kEvent, kEnd, kBad };
  // kEnd: there is no more now; if the file grows, a later call goes on. kBad: error() is a sentence with path and
  // offset; a later call goes on where it can. Views of `event` are valid until the next call.
  Got next(LogEvent& event);
  const std::string& error() const noexcept { return error_; }

  // Of the log, as far as it has been read. Nothing: it has not begun.
  std::optional<LogId> id() const;
  // The same; reads as much as is needed for it.
  std::optional<LogId> read_id();

  const std::string& path() const noexcept { return path_; }
  // Nothing of the content is a record log.
  bool refused() const noexcept { return reader_.refused(); }
  bool compressed() const noexcept { return zstd_ != nullptr; }
  // Of the open file, whatever its name is now.
  dev_t device() const noexcept { return device_; }
  ino_t inode() const noexcept { return inode_; }
  bool regular() const noexcept { return regular_; }
  bool was_truncated() const noexcept;  // it is shorter than what has been read

 private:
  class Zstd;
  LogFile(std::string path, int fd);
  bool read_more();
  Got fails(std::string what);

  const std::string path_;
  const int fd_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  bool regular_ = false;
  bool failed_ = false;
  std::uint64_t read_bytes_ = 0;
  std::string piece_, error_;
  std::unique_ptr<Zstd> zstd_;
  RecordLogReader reader_;
};

}  // namespace telltale::diag
