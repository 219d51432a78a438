// SPDX-License-Identifier: Apache-2.0
// See file_sink.h.
#include "file_sink.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace telltale::diag {

tl::expected<std::unique_ptr<StreamSink>, std::string> open_log_file(const std::string& path) {
  int fd;  // O_NONBLOCK: a FIFO nobody reads is an error here, not a wait; StreamSink waits by itself
  do {
    fd = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) {
    return tl::unexpected("log file " + path + " cannot be opened: " + std::generic_category().message(errno));
  }
  // A process without stdin, stdout or stderr would get one of their numbers, and strangers would write here.
  if (fd <= 2) {
    int higher = ::fcntl(fd, F_DUPFD_CLOEXEC, 3);
    int error = errno;
    ::close(fd);
    if (higher < 0) {
      return tl::unexpected("log file " + path + " cannot be opened: " + std::generic_category().message(error));
    }
    fd = higher;
  }
  return std::make_unique<StreamSink>(fd, true);
}

}  // namespace telltale::diag
