// SPDX-License-Identifier: Apache-2.0
// See rolled_files.h.
#include "rolled_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <memory>
#include <tuple>

namespace telltale::diag {

std::vector<RolledFile> list_rolled(const std::string& folder, const std::string& base) {
  std::vector<RolledFile> files;
  std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(folder.c_str()), ::closedir);
  if (!open) return files;
  while (const dirent* entry = ::readdir(open.get())) {
    auto name = parse_rolled_name(base, entry->d_name);
    struct stat found {};
    if (!name || ::fstatat(::dirfd(open.get()), entry->d_name, &found, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(found.st_mode)) {
      continue;
    }
    std::chrono::nanoseconds written = std::chrono::seconds(found.st_mtim.tv_sec) + std::chrono::nanoseconds(found.st_mtim.tv_nsec);
    files.push_back({entry->d_name, *name, static_cast<std::uint64_t>(found.st_size), std::chrono::system_clock::time_point(written),
                     found.st_dev, found.st_ino});
  }
  std::sort(files.begin(), files.end(), [](const RolledFile& a, const RolledFile& b) {
    return std::tie(a.name.sequence, a.file) < std::tie(b.name.sequence, b.file);
  });
  return files;
}

std::size_t rolled_to_delete(const std::vector<RolledFile>& files, const RollSettings& settings, std::uint64_t live_bytes,
                             std::chrono::system_clock::time_point now) {
  std::size_t count = 0;
  if (settings.space_bytes_max != 0) {
    std::uint64_t total = live_bytes;
    for (const RolledFile& file : files) total += file.bytes;
    for (; count < files.size() && total > settings.space_bytes_max; ++count) total -= files[count].bytes;
  }
  if (settings.age_max.count() != 0) {
    while (files.size() - count > settings.min_count && now - files[count].rolled > settings.age_max) ++count;
  }
  return count;
}

}  // namespace telltale::diag
