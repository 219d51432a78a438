// SPDX-License-Identifier: Apache-2.0
#pragma once
// PatientWriter: writes to a descriptor, and waits for a reader that is slow, but not for one that is gone.
//
// A pipe, terminal or socket is asked before each write whether it takes one, and is handed at most PIPE_BUF
// bytes, whole lines where they fit: such a write does not block, and does not mix with those of others. A
// reader that has not read for kPatience is waited for no longer until it reads again; meanwhile what does
// not fit is refused. (The descriptor stays as it is: O_NONBLOCK would be seen by all who share it.) A
// regular file gets everything in one write.
//
// **Thread safety:** thread-compatible.

#include <chrono>
#include <cstddef>
#include <string_view>

namespace telltale::diag {

class PatientWriter {
 public:
  static constexpr std::chrono::milliseconds kPatience{200};

  // Bytes written; fewer than all: `error` is the errno, EAGAIN for a reader that does not read. Blocks for
  // kPatience at most, but for a file system that hangs.
  std::size_t write(int fd, std::string_view bytes, int& error) noexcept;

 private:
  bool given_up_ = false;
};

}  // namespace telltale::diag
