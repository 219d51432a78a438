// SPDX-License-Identifier: Apache-2.0
#pragma once
// FileSink: the log file as a place lines go to: a RotatingFile whose entries are lines.
//
// Takes whole lines and says how many did not get out. The line that was torn when a write stopped half-way
// (a full disk) is ended before the next one.
//
// **Thread safety:** as RotatingFile.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "rotating_file.h"

namespace telltale::diag {

// Lines as line.h makes them: they begin with "[2026-11-30T10:00:00"; or of JSON (entry_json.h).
class LineFile : public FileKind {
 public:
  std::optional<std::chrono::system_clock::time_point> first_entry(std::string_view bytes) const override;
};

class FileSink {
 public:
  // Errors: a sentence with path and reason.
  static tl::expected<std::unique_ptr<FileSink>, std::string> open(const std::string& path, const RollSettings& settings);
  FileSink(std::string path, int fd, const RollSettings& settings) : file_(std::move(path), fd, settings, kind_) {}

  // Returns the number of lines not written whole; then error() says why.
  std::uint64_t write(std::string_view lines, FileTime now) noexcept;
  int error() const noexcept { return file_.error(); }

  RotatingFile& file() noexcept { return file_; }

 private:
  LineFile kind_;
  RotatingFile file_;
  bool torn_ = false;  // the last byte written is not the end of a line
  std::uint64_t generation_ = 0;  // of the file that is torn
};

}  // namespace telltale::diag
