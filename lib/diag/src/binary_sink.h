// SPDX-License-Identifier: Apache-2.0
#pragma once
// BinarySink: the binary log (record_log.h) as a place records go to: a RotatingFile whose entries are frames.
//
// Each file stands alone: RotatingFile asks for a beginning whenever it has an empty one, whoever made it so. A
// file that is not empty and was not begun here is rolled when it is found; where it cannot be, a start frame and
// the dictionary are written before what is appended. A write that stopped half-way is taken back.
//
// **Thread safety:** as RotatingFile.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "record_log_writer.h"
#include "rotating_file.h"

namespace telltale::diag {

class BinarySink {
 public:
  // Regular files only. `names` outlives it. Errors: a sentence with path and reason.
  static tl::expected<std::unique_ptr<BinarySink>, std::string> open(const std::string& path, const RollSettings& settings,
                                                                     const LogNames& names, LogStart start);
  BinarySink(std::string path, int fd, const RollSettings& settings, const LogNames& names, LogStart start)
      : writer_(names, start), kind_(writer_), file_(std::move(path), fd, settings, kind_) {}

  // Makes the frames that write() takes.
  RecordLogWriter& writer() noexcept { return writer_; }
  // Returns how many of the events (records, losses ...) in the frames were not written; then error() says why,
  // and all is announced again. `events`: how many there are.
  std::uint64_t write(std::string_view frames, std::uint64_t events, FileTime now) noexcept;
  int error() const noexcept { return file_.error(); }

  RotatingFile& file() noexcept { return file_; }

 private:
  class Kind : public FileKind {
   public:
    explicit Kind(const RecordLogWriter& writer) : writer_(writer) {}
    std::string beginning() override;
    std::optional<std::chrono::system_clock::time_point> first_entry(std::string_view bytes) const override;
    bool takes_back() const override { return true; }
    bool goes_on() const override { return false; }

    // In the middle of a file.
    std::string beginning_again() const;
    std::uint64_t begun = 0;  // how often a file was begun

   private:
    const RecordLogWriter& writer_;
    LogId id_;  // of the file begun last
  };

  RecordLogWriter writer_;
  Kind kind_;
  RotatingFile file_;
  std::uint64_t begun_generation_ = 0;  // of the file whose beginning is ours; 0: none
};

}  // namespace telltale::diag
