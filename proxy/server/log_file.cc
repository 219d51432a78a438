// SPDX-License-Identifier: Apache-2.0
#include "server/log_file.h"

#include <sys/stat.h>

namespace telltale::server {

void LogFile::opened(const std::filesystem::path& path) {
  struct stat found {};
  path_ = path;
  known_ = ::stat(path_.c_str(), &found) == 0;
  device_ = found.st_dev;
  inode_ = found.st_ino;
}

bool LogFile::went_away() {
  if (!known_) return false;
  struct stat found {};
  if (::stat(path_.c_str(), &found) == 0 && found.st_dev == device_ && found.st_ino == inode_) return false;
  known_ = false;
  return true;
}

}  // namespace telltale::server
