// SPDX-License-Identifier: Apache-2.0
// See stream_sink.h.
#include "stream_sink.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace telltale::diag {

StreamSink::~StreamSink() {
  if (owned_) ::close(fd_);
}

std::uint64_t StreamSink::write(std::string_view lines) noexcept {
  if (lines.empty()) return 0;
  std::size_t done = 0;
  if (!torn_ || writer_.write(fd_, "\n", error_) == 1) {
    torn_ = false;
    done = writer_.write(fd_, lines, error_);
    if (done > 0) torn_ = lines[done - 1] != '\n';
  }
  std::string_view rest = lines.substr(done);
  return static_cast<std::uint64_t>(std::count(rest.begin(), rest.end(), '\n'));
}

bool StreamSink::same_file(int other_fd) const noexcept {
  struct stat a, b;
  return ::fstat(fd_, &a) == 0 && ::fstat(other_fd, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

}  // namespace telltale::diag
