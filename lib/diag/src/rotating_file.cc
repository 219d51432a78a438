// SPDX-License-Identifier: Apache-2.0
// See rotating_file.h. What becomes of rolled files is in rotating_file_tidy.cc.
#include "rotating_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

#include "move_file.h"

namespace telltale::diag {

using namespace std::chrono_literals;
using std::chrono::system_clock;

namespace {

constexpr auto kCheckEvery = 1s;
constexpr int kNamesTried = 1000;  // that others have taken
constexpr std::size_t kNoticesMax = 64;
constexpr std::size_t kFirstBytes = 256;

std::string folder_of(const std::string& path) {
  std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

tl::expected<int, int> open_to_append(const std::string& path, int more_flags) noexcept {
  int fd;  // O_NONBLOCK: a FIFO nobody reads is an error here, not a wait; PatientWriter waits by itself
  do {
    fd = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | more_flags, 0600);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) return tl::unexpected(errno);
  // A process without stdin, stdout or stderr would get one of their numbers, and strangers would write here.
  if (fd <= 2) {
    int higher = ::fcntl(fd, F_DUPFD_CLOEXEC, 3);
    int error = errno;
    ::close(fd);
    if (higher < 0) return tl::unexpected(error);
    fd = higher;
  }
  return fd;
}

RotatingFile::RotatingFile(std::string path, int fd, RollSettings settings, FileKind& kind)
    : path_(std::move(path)),
      folder_(folder_of(path_)),
      base_(path_.substr(path_.rfind('/') + 1)),
      settings_(settings),
      kind_(kind) {
  if (fd >= 0) adopt(fd);
}

RotatingFile::~RotatingFile() {
  if (fd_ >= 0) ::close(fd_);
}

void RotatingFile::abandon() noexcept {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

std::string RotatingFile::in_folder(std::string_view file) const { return fmt::format("{}/{}", folder_, file); }

void RotatingFile::say(Level level, std::string text) {
  if (notices_.size() < kNoticesMax) notices_.push_back({level, std::move(text)});
}

// Another file is the open one from now on.
void RotatingFile::adopt(int fd) {
  int former = fd_;
  fd_ = fd;  // first: a child forked in between would close a number that may be somebody else's by now
  if (former >= 0) ::close(former);
  ++generation_;
  writer_ = {};
  struct stat found {};
  regular_ = ::fstat(fd_, &found) == 0 && S_ISREG(found.st_mode);
  device_ = found.st_dev;
  inode_ = found.st_ino;
  size_bytes_ = regular_ ? static_cast<std::uint64_t>(found.st_size) : 0;
  first_entry_.reset();
  if (size_bytes_ > 0) {
    char first[kFirstBytes];
    // The descriptor is for writing alone.
    int in = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = in >= 0 ? ::pread(in, first, sizeof first, 0) : 0;
    if (in >= 0) ::close(in);
    if (n > 0) first_entry_ = kind_.first_entry({first, static_cast<std::size_t>(n)});
    if (!first_entry_) first_entry_ = system_clock::time_point(std::chrono::seconds(found.st_mtim.tv_sec));
  }
  judge();
}

// Whether it may be rolled; says so where it may not, though it should.
void RotatingFile::judge() {
  struct stat named {};
  still_ = fd_ < 0                                                            ? ""
           : !regular_                                                        ? "it is a pipe or a device"
           : ::lstat(path_.c_str(), &named) == 0 && S_ISLNK(named.st_mode)    ? "it is a symbolic link"
           : !shared_with_.empty()                                            ? "it is this process's " + shared_with_ + " too"
                                                                              : "";
  bool wanted = settings_.size_bytes != 0 || settings_.interval.count() != 0;
  if (!wanted || still_.empty() || still_ == told_still_) return;
  told_still_ = still_;
  say(Level::kNote, fmt::format("{} is not rolled: {}", path_, still_));
}

void RotatingFile::keep_still(std::string_view whose) {
  if (shared_with_ == whose) return;
  shared_with_ = whose;
  judge();
}

void RotatingFile::set(const RollSettings& settings, FileTime now) {
  if (settings_ == settings) return;
  settings_ = settings;
  compress_after_ = {};
  judge();
  tidy(now);
}

void RotatingFile::start(FileTime now) {
  tidy(now);
  if (is_rolled() && first_entry_ && !kind_.goes_on()) roll(now);
  checked_ = now.steady;
}

std::size_t RotatingFile::append(std::string_view bytes, FileTime now) noexcept try {
  if (fd_ >= 0 && regular_ && !look_at_size(now)) return 0;
  if (fd_ < 0 && !open_now(now)) return 0;
  if (is_due(now, bytes.size())) roll(now);
  if (!regular_) return writer_.write(fd_, bytes, error_);

  std::string with_beginning;
  std::size_t extra = 0;
  if (size_bytes_ == 0) {
    with_beginning = kind_.beginning();
    extra = with_beginning.size();
    if (extra > 0) with_beginning += bytes;
  }
  std::string_view all = extra > 0 ? std::string_view(with_beginning) : bytes;
  std::size_t done = writer_.write(fd_, all, error_);
  if (done < all.size() && kind_.takes_back() && ::ftruncate(fd_, static_cast<off_t>(size_bytes_)) == 0) return 0;
  size_bytes_ += done;
  if (done > 0 && !first_entry_) note_first_entry(all, now);
  return done > extra ? done - extra : 0;
} catch (...) {
  error_ = ENOMEM;
  return 0;
}

std::size_t RotatingFile::append_to(std::uint64_t generation, std::string_view bytes) noexcept {
  if (fd_ < 0 || generation != generation_) return 0;
  std::size_t done = writer_.write(fd_, bytes, error_);
  size_bytes_ += done;
  return done;
}

void RotatingFile::note_first_entry(std::string_view bytes, FileTime now) {
  first_entry_ = kind_.first_entry(bytes.substr(0, kFirstBytes));
  if (!first_entry_) first_entry_ = now.wall;
}

// What others did to the open file. False: there is none now.
bool RotatingFile::look_at_size(FileTime now) {
  struct stat found {};
  if (::fstat(fd_, &found) != 0) {  // somebody closed what was ours
    fd_ = -1;
    return open_now(now);
  }
  if (found.st_nlink == 0) {
    say(Level::kWarning, fmt::format("{} was deleted: opening it anew", path_));
    return reopen(now);
  }
  auto size = static_cast<std::uint64_t>(found.st_size);
  if (size < size_bytes_) {
    say(Level::kNote, fmt::format("{} was truncated from {} to {} bytes", path_, size_bytes_, size));
  }
  size_bytes_ = size;
  if (size == 0) first_entry_.reset();
  return true;
}

bool RotatingFile::is_due(FileTime now, std::size_t more_bytes) const noexcept {
  if (!is_rolled() || !first_entry_ || now.steady < roll_tried_ + (told_roll_ ? kCheckEvery : 0s)) return false;
  if (settings_.size_bytes != 0 && size_bytes_ > 0 && size_bytes_ + more_bytes > settings_.size_bytes) return true;
  if (settings_.interval.count() == 0) return false;
  auto period = [this](system_clock::time_point t) { return std::chrono::floor<std::chrono::seconds>(t).time_since_epoch() / settings_.interval; };
  // A clock that was far ahead when the file began shall not keep it for years.
  return period(now.wall) > period(*first_entry_) || *first_entry_ - now.wall > settings_.interval;
}

bool RotatingFile::name_is_ours() const noexcept {
  struct stat named {};
  return ::stat(path_.c_str(), &named) == 0 && named.st_dev == device_ && named.st_ino == inode_;
}

bool RotatingFile::roll(FileTime now) {
  if (!is_rolled() || !first_entry_) return false;
  if (!name_is_ours()) return reopen(now);
  roll_tried_ = now.steady;
  auto fails = [this](int error) {
    ++roll_errors_;
    if (!told_roll_) say(Level::kError, fmt::format("{} cannot be rolled, it grows on: {}", path_, error_text(error)));
    told_roll_ = true;
    return false;
  };
  auto first = std::chrono::floor<std::chrono::seconds>(*first_entry_);
  constexpr std::chrono::sys_seconds kYear1{std::chrono::sys_days(std::chrono::year(1) / 1 / 1)},
      kYear9999{std::chrono::sys_days(std::chrono::year(9999) / 1 / 1)};
  first = std::clamp(first, kYear1, kYear9999);
  std::string rolled;
  int error = EEXIST;
  for (int tries = 0; error == EEXIST && tries < kNamesTried; ++tries) {
    rolled = in_folder(rolled_name(base_, first, next_sequence_++));
    // A compressed file of that number is also taken: this one would be compressed to its name.
    error = exists(rolled + std::string(kCompressedSuffix)) ? EEXIST : move_to_free_name(path_, rolled);
  }
  if (error != 0) return fails(error);
  auto next = open_to_append(path_, O_EXCL);
  if (!next && next.error() == EEXIST) next = open_to_append(path_);  // logrotate's "create", in this moment
  if (!next) {
    // The name is given back; where even that fails, check() finds the file without its name.
    (void)move_to_free_name(rolled, path_);
    return fails(next.error());
  }
  adopt(*next);
  ++rolls_;
  if (told_roll_) say(Level::kNote, fmt::format("{} can be rolled again", path_));
  told_roll_ = false;
  tidy(now);
  return true;
}

bool RotatingFile::reopen(FileTime now) {
  open_tried_ = now.steady;
  auto opened = open_to_append(path_);
  if (!opened && opened.error() == ENOENT && ::mkdir(folder_.c_str(), 0755) == 0) opened = open_to_append(path_);
  if (!opened) {
    error_ = opened.error();
    struct stat found {};
    bool nameless = fd_ >= 0 && ::fstat(fd_, &found) == 0 && found.st_nlink == 0;
    if (nameless) {  // what is written to it is gone with it; rather count
      ::close(fd_);
      fd_ = -1;
      ++generation_;
    }
    if (!told_closed_) {
      say(Level::kError, fmt::format("{} cannot be opened: {}; lines {} until it can", path_, error_text(error_),
                                     fd_ < 0 ? "for it are lost" : "go on into the old file"));
    }
    told_closed_ = true;
    return false;
  }
  struct stat found {};
  if (fd_ >= 0 && ::fstat(*opened, &found) == 0 && found.st_dev == device_ && found.st_ino == inode_ && regular_) {
    ::close(*opened);
  } else {
    adopt(*opened);
    // Somebody has put it there.
    if (!is_rolled() || !first_entry_ || kind_.goes_on() || !roll(now)) tidy(now);
  }
  ++reopens_;
  if (told_closed_) say(Level::kNote, fmt::format("{} is open again", path_));
  told_closed_ = false;
  return true;
}

bool RotatingFile::open_now(FileTime now) { return now.steady - open_tried_ >= kCheckEvery && reopen(now); }

void RotatingFile::check(FileTime now) {
  if (now.steady - checked_ < kCheckEvery) return;
  checked_ = now.steady;
  if (fd_ >= 0 && regular_) look_at_size(now);
  if (fd_ < 0) {
    open_now(now);
  } else if (!name_is_ours()) {
    if (!told_closed_) say(Level::kWarning, fmt::format("{} was moved: opening it anew", path_));
    reopen(now);
  }
  if (is_due(now, 0)) roll(now);
  end_compression(now);
  if (now.steady - tidied_ >= kTidyEvery) tidy(now);
}

FileState RotatingFile::state() const {
  FileState state;
  state.path = path_;
  state.open = fd_ >= 0;
  state.bytes = size_bytes_;
  state.not_rolled = settings_.size_bytes == 0 && settings_.interval.count() == 0 ? "the settings say so" : still_;
  state.rolls = rolls_;
  state.roll_errors = roll_errors_;
  state.reopens = reopens_;
  state.compressed = compressed_;
  state.compress_errors = compress_errors_;
  state.deleted = deleted_;
  state.compressing = compressing_;
  state.rolled_files = rolled_files_;
  state.rolled_bytes = rolled_bytes_;
  return state;
}

}  // namespace telltale::diag
