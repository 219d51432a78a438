// SPDX-License-Identifier: Apache-2.0
// See stream_sink.h.
#include "stream_sink.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace telltale::diag {

StreamSink::~StreamSink() {
  if (owned_) ::close(fd_);
}

std::size_t StreamSink::write_some(std::string_view text) noexcept {
  std::size_t done = 0;
  while (done < text.size()) {
    ssize_t n = ::write(fd_, text.data() + done, text.size() - done);
    if (n > 0) {
      done += static_cast<std::size_t>(n);
      continue;
    }
    error_ = n == 0 ? EIO : errno;
    if (error_ == EINTR) continue;
    if (error_ != EAGAIN) break;
    // Somebody made the descriptor non-blocking; waiting is the backend's job.
    pollfd ready{fd_, POLLOUT, 0};
    if (::poll(&ready, 1, -1) < 0 && errno != EINTR) break;
    if ((ready.revents & POLLNVAL) != 0) break;
  }
  return done;
}

std::uint64_t StreamSink::write(std::string_view lines) noexcept {
  if (lines.empty()) return 0;
  std::size_t done = 0;
  if (!torn_ || write_some("\n") == 1) {
    torn_ = false;
    done = write_some(lines);
    if (done > 0) torn_ = lines[done - 1] != '\n';
  }
  std::string_view rest = lines.substr(done);
  return static_cast<std::uint64_t>(std::count(rest.begin(), rest.end(), '\n'));
}

bool StreamSink::same_file(const StreamSink& other) const noexcept {
  struct stat a, b;
  return ::fstat(fd_, &a) == 0 && ::fstat(other.fd_, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

}  // namespace telltale::diag
