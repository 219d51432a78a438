// SPDX-License-Identifier: Apache-2.0
// See move_file.h.
#include "move_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace telltale::diag {

int move_to_free_name(const std::string& from, const std::string& to) noexcept {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  if (::link(from.c_str(), to.c_str()) != 0) return errno;
  return ::unlink(from.c_str()) == 0 ? 0 : errno;
}

bool exists(const std::string& path) noexcept {
  struct stat found {};
  return ::lstat(path.c_str(), &found) == 0;
}

std::string error_text(int error) { return std::generic_category().message(error); }

}  // namespace telltale::diag
