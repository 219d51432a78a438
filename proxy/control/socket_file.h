// SPDX-License-Identifier: Apache-2.0
#pragma once
// The control socket's file: made for its owner only, found again, removed.
//
//   at the path                      open()                                remove()
//   nothing                          makes it (and missing folders, 0700)  nothing to do
//   a socket nobody listens on       replaces it                           leaves it, unless it is ours
//   a socket somebody listens on     refuses, names path and process       leaves it, unless it is ours
//   anything else, a symlink too     refuses, never touches it             never touches it
//
// The mode is 0600 from the first moment, whatever the umask: it is set on the descriptor before bind(2)
// makes the file. Two daemons that start at once on one path exclude each other by a lock on the folder.
//
// **Thread safety:** thread-compatible.

#include <string>

#include <sys/types.h>
#include <tl/expected.hpp>

namespace telltale::control {

class SocketFile {
 public:
  // A listening, non-blocking stream socket at `path`. Errors: a sentence with the path and the reason.
  // Cost: system calls; waits up to a second for another daemon that is opening its socket there.
  [[nodiscard]] static tl::expected<SocketFile, std::string> open(const std::string& path);

  SocketFile(SocketFile&& other) noexcept;
  SocketFile& operator=(SocketFile&&) = delete;
  ~SocketFile();  // removes the file and closes what release() has not given away

  // The listening descriptor; the caller closes it. Once.
  [[nodiscard]] int release() noexcept;

  // Removes the file if it is still the one that open() made. REQUIRES: the listening descriptor is
  // still open: it keeps the inode number from being used again.
  void remove() noexcept;

 private:
  SocketFile() = default;

  std::string name_;     // within the folder
  int folder_ = -1;      // so that remove() finds it after a chdir
  int listener_ = -1;
  bool ours_ = false;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace telltale::control
