// SPDX-License-Identifier: Apache-2.0
// See recorder_folder.h; tested in recorder_test.cc.
#include "recorder_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "record_log.h"
#include "unique_fd.h"

namespace telltale::diag {

namespace {

std::string reason(int error) { return std::generic_category().message(error); }

tl::unexpected<std::string> refuse(const std::string& path, std::string_view what, int error = 0) {
  return tl::unexpected(error == 0 ? fmt::format("{} {}", path, what) : fmt::format("{} {}: {}", path, what, reason(error)));
}

UniqueFd open_directory(int at, const char* name) {
  return UniqueFd(::openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

tl::expected<UniqueFd, std::string> open_folder(const std::string& path) {
  std::error_code failed;
  std::filesystem::path folder(path);
  if (folder.has_parent_path()) std::filesystem::create_directories(folder.parent_path(), failed);
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return refuse(path, "cannot be made", errno);
  UniqueFd fd = open_directory(AT_FDCWD, path.c_str());
  if (!fd) {
    return errno == ELOOP || errno == ENOTDIR ? refuse(path, "is not a directory") : refuse(path, "cannot be opened", errno);
  }
  struct stat is {};
  if (::fstat(fd.get(), &is) != 0) return refuse(path, "cannot be read", errno);
  if (is.st_uid != ::geteuid()) return refuse(path, fmt::format("belongs to user {}, expected {}", is.st_uid, ::geteuid()));
  if ((is.st_mode & 077) != 0) {
    return refuse(path, fmt::format("is open to others (mode {:04o}), expected 0700", is.st_mode & 07777));
  }
  return fd;
}

// Who starts at the same time is through within milliseconds.
bool lock_folder(int fd) {
  for (int tried = 0; tried < 200; ++tried) {
    if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return true;
    timespec pause{0, 10'000'000};
    ::nanosleep(&pause, nullptr);
  }
  return false;
}

bool is_alive(int directory) {
  UniqueFd dictionary(::openat(directory, kRecorderDictionary, O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  return dictionary && ::flock(dictionary.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

// Of the directory's process, as far as its dictionary says.
struct Began {
  std::int64_t wall_s = 0;
  std::uint32_t pid = 0;
};
Began read_began(int directory) {
  Began began;
  struct stat is {};
  if (::fstat(directory, &is) == 0) began.wall_s = is.st_mtime;
  UniqueFd dictionary(::openat(directory, kRecorderDictionary, O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  struct {
    FrameHeader header;
    StartContent content;
  } start;
  if (!dictionary || ::pread(dictionary.get(), &start, sizeof start, 0) != sizeof start) return began;
  if (std::memcmp(start.content.magic, kRecordLogMagic, sizeof kRecordLogMagic) != 0) return began;
  return {start.content.wall_ns / 1'000'000'000, start.content.pid};
}

constexpr std::size_t kNameTimeBytes = 16;  // 20261130T191500Z

std::string name_of(const Began& began) {
  std::tm t{};
  time_t seconds = began.wall_s;
  ::gmtime_r(&seconds, &t);
  return fmt::format("{:04}{:02}{:02}T{:02}{:02}{:02}Z-{}", t.tm_year + 1900, t.tm_mon + 1, t.tm_mday, t.tm_hour, t.tm_min,
                     t.tm_sec, began.pid);
}

bool is_kept_name(std::string_view name) {
  if (name.size() < kNameTimeBytes + 2 || name[8] != 'T' || name[15] != 'Z' || name[16] != '-') return false;
  return std::all_of(name.begin(), name.end(), [](char c) { return (c >= '0' && c <= '9') || c == 'T' || c == 'Z' || c == '-'; });
}

std::vector<std::string> entries_of(int directory) {
  std::vector<std::string> names;
  DIR* list = ::fdopendir(::dup(directory));
  if (list == nullptr) return names;
  ::rewinddir(list);
  while (const dirent* entry = ::readdir(list)) {
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  ::closedir(list);
  return names;
}

bool is_ours(std::string_view name) {
  return name == kRecorderDictionary || name == kRecorderClocks || name.starts_with("output-") || name.starts_with("recorder-");
}

// Leaves what it does not know, and then the directory too.
void remove_kept(int folder, const std::string& name) {
  UniqueFd directory = open_directory(folder, name.c_str());
  if (!directory || is_alive(directory.get())) return;
  for (const std::string& file : entries_of(directory.get())) {
    if (is_ours(file)) ::unlinkat(directory.get(), file.c_str(), 0);
  }
  ::unlinkat(folder, name.c_str(), AT_REMOVEDIR);
}

void keep_newest(int folder, std::size_t keep) {
  std::vector<std::string> kept;
  for (std::string& name : entries_of(folder)) {
    if (is_kept_name(name)) kept.push_back(std::move(name));
  }
  std::sort(kept.rbegin(), kept.rend());
  for (std::size_t i = keep; i < kept.size(); ++i) remove_kept(folder, kept[i]);
}

tl::expected<void, std::string> put_aside(int folder, const std::string& path) {
  UniqueFd current = open_directory(folder, kRecorderCurrent);
  if (!current) return errno == ENOENT ? tl::expected<void, std::string>() : refuse(path + "/current", "is in the way", errno);
  Began began = read_began(current.get());
  if (is_alive(current.get())) {
    return refuse(path, fmt::format("is in use by process {}; give each process a folder of its own", began.pid));
  }
  std::string name = name_of(began), unique = name;
  for (int i = 2; i < 1000 && ::faccessat(folder, unique.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0; ++i) {
    unique = fmt::format("{}-{}", name, i);
  }
  if (::renameat(folder, kRecorderCurrent, folder, unique.c_str()) != 0) return refuse(path + "/current", "cannot be renamed", errno);
  return {};
}

}  // namespace

tl::expected<FreshDirectory, std::string> make_recorder_directory(const RecorderConfig& config) {
  auto folder = open_folder(config.folder);
  if (!folder) return tl::unexpected(folder.error());
  if (!lock_folder(folder->get())) return refuse(config.folder, "is locked by another process");
  if (auto aside = put_aside(folder->get(), config.folder); !aside) return tl::unexpected(aside.error());
  keep_newest(folder->get(), config.keep);
  const std::string path = config.folder + "/" + kRecorderCurrent;
  if (::mkdirat(folder->get(), kRecorderCurrent, 0700) != 0) return refuse(path, "cannot be made", errno);
  UniqueFd directory = open_directory(folder->get(), kRecorderCurrent);
  if (!directory) return refuse(path, "cannot be opened", errno);
  UniqueFd dictionary(::openat(directory.get(), kRecorderDictionary, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!dictionary) return refuse(path + "/" + kRecorderDictionary, "cannot be made", errno);
  if (::flock(dictionary.get(), LOCK_EX | LOCK_NB) != 0) return refuse(path + "/" + kRecorderDictionary, "cannot be locked", errno);
  return FreshDirectory{directory.release(), dictionary.release()};
}

}  // namespace telltale::diag
