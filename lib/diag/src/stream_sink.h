// SPDX-License-Identifier: Apache-2.0
#pragma once
// StreamSink: a descriptor lines are written to: stdout, stderr, or a file it owns.
//
// Writes whole lines and says how many did not get out; the line that was torn when a write stopped
// half-way is ended before the next one. Never closes descriptors 0 to 2. A full disk, a closed pipe or
// a closed descriptor is a count, not an end: the next batch is tried again.
//
// **Thread safety:** thread-compatible; used by the backend, which has SIGPIPE blocked.

#include <sys/types.h>

#include <cstdint>
#include <string_view>

#include "patient_write.h"

namespace telltale::diag {

class StreamSink {
 public:
  explicit StreamSink(int fd, bool owned) noexcept : fd_(fd), owned_(owned) {}
  ~StreamSink();
  StreamSink(const StreamSink&) = delete;
  StreamSink& operator=(const StreamSink&) = delete;

  // Waits for a reader, but not for long (patient_write.h). Returns the number of lines not written whole; then error() says why.
  std::uint64_t write(std::string_view lines) noexcept;
  int error() const noexcept { return error_; }  // errno of the last write() that returned more than 0

  bool same_file(int other_fd) const noexcept;
  int fd() const noexcept { return fd_; }

 private:
  const int fd_;
  const bool owned_;
  PatientWriter writer_;
  bool torn_ = false;  // the last byte written is not the end of a line
  int error_ = 0;
};

}  // namespace telltale::diag
