// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether the file that lines go to is still the one of that name: logrotate and people move and delete files
// under a running daemon, and lines then go where nobody looks.
//
// **Thread safety:** thread-compatible.

#include <filesystem>

#include <sys/types.h>

namespace telltale::server {

class LogFile {
 public:
  // The file of this name is the open one from now on. Cost: one stat(2).
  void opened(const std::filesystem::path& path);
  // True once after the file has been moved or deleted. Cost: one stat(2).
  [[nodiscard]] bool went_away();

 private:
  std::filesystem::path path_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  bool known_ = false;
};

}  // namespace telltale::server
