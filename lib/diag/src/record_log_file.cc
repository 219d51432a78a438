// SPDX-License-Identifier: Apache-2.0
// See record_log_file.h; tested in debug_cat_test.cc.
#include "record_log_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <optional>
#include <system_error>

#include <fmt/format.h>

namespace telltale::diag {

namespace {

constexpr std::size_t kPieceBytes = 256 * 1024;
constexpr unsigned char kZstdMagic[] = {0x28, 0xB5, 0x2F, 0xFD};
constexpr int kZstdWindowLogMax = 27;  // 128 MiB: no more memory than this, whatever the file asks for

std::string errno_text() { return std::generic_category().message(errno); }

}  // namespace

class LogFile::Zstd {
 public:
  Zstd() : stream_(ZSTD_createDCtx(), ZSTD_freeDCtx), out_(ZSTD_DStreamOutSize(), '\0') {
    if (!stream_) throw std::bad_alloc();
    ZSTD_DCtx_setParameter(stream_.get(), ZSTD_d_windowLogMax, kZstdWindowLogMax);
  }

  void give(std::string_view bytes) {
    in_.erase(0, at_);
    at_ = 0;
    in_.append(bytes);
  }
  // Empty: it needs more. Nothing: `error` says why.
  std::optional<std::string_view> take(std::string& error) {
    ZSTD_inBuffer in{in_.data(), in_.size(), at_};
    ZSTD_outBuffer out{out_.data(), out_.size(), 0};
    // Without new input there still may be output that did not fit before.
    std::size_t left = ZSTD_decompressStream(stream_.get(), &out, &in);
    if (in.pos != at_ || out.pos != 0) whole_ = left == 0;
    at_ = in.pos;
    if (ZSTD_isError(left)) {
      error = ZSTD_getErrorName(left);
      return std::nullopt;
    }
    return std::string_view(out_.data(), out.pos);
  }
  bool whole() const noexcept { return whole_; }  // what was given ends where a compressed file may end

 private:
  std::unique_ptr<ZSTD_DCtx, std::size_t (*)(ZSTD_DCtx*)> stream_;
  std::string in_, out_;
  std::size_t at_ = 0;
  bool whole_ = false;
};

tl::expected<std::unique_ptr<LogFile>, std::string> LogFile::open(const std::string& path) {
  // O_NONBLOCK: a FIFO that nobody writes is an end, not a wait.
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (fd < 0) return tl::unexpected(fmt::format("{} cannot be opened: {}", path, errno_text()));
  if (int flags = ::fcntl(fd, F_GETFL); flags >= 0) ::fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
  return std::unique_ptr<LogFile>(new LogFile(path, fd));
}

LogFile::LogFile(std::string path, int fd) : path_(std::move(path)), fd_(fd), piece_(kPieceBytes, '\0') {
  struct stat found {};
  if (::fstat(fd_, &found) != 0) return;
  device_ = found.st_dev;
  inode_ = found.st_ino;
  regular_ = S_ISREG(found.st_mode);
}

LogFile::~LogFile() { ::close(fd_); }

bool LogFile::was_truncated() const noexcept {
  struct stat found {};
  return regular_ && ::fstat(fd_, &found) == 0 && static_cast<std::uint64_t>(found.st_size) < read_bytes_;
}

std::optional<LogId> LogFile::id() const {
  const std::optional<LogStart>& start = reader_.dictionary().start();
  return start ? std::optional(start->id) : std::nullopt;
}

std::optional<LogId> LogFile::read_id() {
  while (!reader_.begin() && reader_.bytes_left() < kFrameBytesMax && read_more()) {
  }
  return id();
}

LogFile::Got LogFile::fails(std::string what) {
  failed_ = true;
  error_ = std::move(what);
  return Got::kBad;
}

// False: there is no more now, or error_ says what failed.
bool LogFile::read_more() {
  if (zstd_) {
    std::string error;
    auto bytes = zstd_->take(error);
    if (!bytes) {
      fails(fmt::format("{}, at byte {}: not readable as zstd: {}", path_, read_bytes_, error));
      return false;
    }
    if (!bytes->empty()) {
      reader_.feed(*bytes);
      return true;
    }
  }
  ssize_t n;
  do {
    n = ::read(fd_, piece_.data(), piece_.size());
  } while (n < 0 && errno == EINTR);
  if (n < 0) {
    fails(fmt::format("{} cannot be read: {}", path_, errno_text()));
    return false;
  }
  if (n == 0) {
    if (zstd_ && !zstd_->whole()) fails(fmt::format("{} ends after {} bytes, inside what is compressed", path_, read_bytes_));
    return false;
  }
  std::string_view bytes(piece_.data(), static_cast<std::size_t>(n));
  if (read_bytes_ == 0 && bytes.size() >= sizeof kZstdMagic && std::memcmp(bytes.data(), kZstdMagic, sizeof kZstdMagic) == 0) {
    zstd_ = std::make_unique<Zstd>();
  }
  read_bytes_ += bytes.size();
  zstd_ ? zstd_->give(bytes) : reader_.feed(bytes);
  return true;
}

LogFile::Got LogFile::next(LogEvent& event) {
  for (;;) {
    if (failed_) return Got::kEnd;
    switch (reader_.next(event)) {
      case RecordLogReader::Got::kEvent: return Got::kEvent;
      case RecordLogReader::Got::kBad:
        error_ = fmt::format("{}, at byte {}{}: {}", path_, reader_.error().offset,
                             zstd_ ? " of what it holds compressed" : "", reader_.error().what);
        return Got::kBad;
      case RecordLogReader::Got::kNeedsBytes: break;
    }
    if (reader_.refused() || !read_more()) return failed_ ? Got::kBad : Got::kEnd;
  }
}

}  // namespace telltale::diag
