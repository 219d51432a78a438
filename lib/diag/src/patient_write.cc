// SPDX-License-Identifier: Apache-2.0
// See patient_write.h.
#include "patient_write.h"

#include <limits.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace telltale::diag {

namespace {

using std::chrono::steady_clock;

// Whether the descriptor takes bytes now, or does by `until`. What else is wrong, write() will say.
bool takes_bytes(int fd, steady_clock::time_point until) noexcept {
  for (;;) {
    auto left = std::chrono::ceil<std::chrono::milliseconds>(until - steady_clock::now()).count();
    pollfd ready{fd, POLLOUT, 0};
    int n = ::poll(&ready, 1, static_cast<int>(std::max<decltype(left)>(left, 0)));
    if (n != 0 && !(n < 0 && errno == EINTR)) return true;
    if (left <= 0) return false;
  }
}

std::string_view next_piece(std::string_view bytes) noexcept {
  std::string_view piece = bytes.substr(0, PIPE_BUF);
  std::size_t end = piece.rfind('\n');
  return end == std::string_view::npos ? piece : piece.substr(0, end + 1);
}

}  // namespace

std::size_t PatientWriter::write(int fd, std::string_view bytes, int& error) noexcept {
  struct stat kind {};
  bool regular = ::fstat(fd, &kind) == 0 && S_ISREG(kind.st_mode);
  std::size_t done = 0;
  auto until = steady_clock::now() + (given_up_ ? std::chrono::milliseconds(0) : kPatience);
  while (done < bytes.size()) {
    std::string_view rest = bytes.substr(done);
    if (!regular) {
      if (!takes_bytes(fd, until)) {
        given_up_ = true;
        error = EAGAIN;
        break;
      }
      rest = next_piece(rest);
    }
    ssize_t n = ::write(fd, rest.data(), rest.size());
    if (n > 0) {
      done += static_cast<std::size_t>(n);
      if (!regular) until = steady_clock::now() + kPatience;
      given_up_ = false;
      continue;
    }
    error = n == 0 ? EIO : errno;
    // EAGAIN: another process was faster, or PIPE_BUF bytes do not fit into what is free.
    if (error != EINTR && (error != EAGAIN || steady_clock::now() >= until)) break;
  }
  return done;
}

}  // namespace telltale::diag
