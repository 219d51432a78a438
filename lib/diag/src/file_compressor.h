// SPDX-License-Identifier: Apache-2.0
#pragma once
// FileCompressor: makes one zstd file at a time out of a rolled file, in a thread of its own that runs only
// when nothing else wants the processor (SCHED_IDLE).
//
// It reads the source and writes the part, and touches no other name: who owns the files renames and
// deletes. What is handed over is one atomic state, no lock: the owner shall never wait for a thread of
// the idle class. The thread ends with its job; rolls are rare.
//
//   state     begin()     look()                cancel()
//   idle      -> busy     idle                  idle
//   busy      refused     busy                  the job ends soon; what look() then says means nothing
//   done      refused     how it went -> idle   idle
//
// Where a compressed file exists already (a process ended between its making and the deletion of its
// source), the job compares the two instead.
//
// **Thread safety:** thread-compatible; one owner. Blocks all signals in its thread if the owner does.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

namespace telltale::diag {

class FileCompressor {
 public:
  enum class Result : std::uint8_t {
    kIdle,
    kBusy,
    kMade,    // the part is whole and on disk
    kSame,    // the compressed file that exists has the source's content
    kDiffers, // it has not
    kFailed,  // error() says why
  };

  ~FileCompressor() { cancel(); }

  // Compresses `source` to `part`, which must not exist; or, with an empty part, compares it with `compressed`.
  // False: a job is under way, or the thread cannot be made.
  bool begin(const std::string& source, const std::string& compressed, const std::string& part);
  Result look();  // of a job that has ended: once
  void cancel() noexcept;

  // Of the job whose result look() returned last.
  const std::string& source() const noexcept { return source_; }
  const std::string& part() const noexcept { return part_; }
  const std::string& compressed() const noexcept { return compressed_; }
  std::uint64_t source_bytes() const noexcept { return source_bytes_; }  // that were read
  int error() const noexcept { return error_; }                          // an errno; 0: zstd refused

  struct Job;

 private:
  std::shared_ptr<Job> job_;  // with the thread while it runs, which may outlive the owner
  std::string source_, compressed_, part_;
  std::uint64_t source_bytes_ = 0;
  int error_ = 0;
};

}  // namespace telltale::diag
