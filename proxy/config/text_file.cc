// SPDX-License-Identifier: Apache-2.0
#include "config/text_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <system_error>

namespace telltale::config {
namespace {

struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

std::string reason(int error) { return std::system_category().message(error); }

// Length of the well-formed UTF-8 character at the start of `text` that is no control character; 0 if
// there is none.
std::size_t character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto follows = [&](std::size_t i) { return byte(i) >= 0x80 && byte(i) <= 0xBF; };
  const unsigned first = byte(0);
  if (first < 0x80) {
    const bool line_end = first == '\n' || (first == '\r' && byte(1) == '\n');
    return (first >= 0x20 && first != 0x7F) || first == '\t' || line_end ? 1 : 0;
  }
  if (first == 0xC2 && byte(1) < 0xA0) return 0;  // the C1 controls
  if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const bool too_short = first == 0xE0 && byte(1) < 0xA0;
    const bool surrogate = first == 0xED && byte(1) > 0x9F;
    return follows(1) && follows(2) && !too_short && !surrogate ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const bool too_short = first == 0xF0 && byte(1) < 0x90;
    const bool too_high = first == 0xF4 && byte(1) > 0x8F;
    return follows(1) && follows(2) && follows(3) && !too_short && !too_high ? 4 : 0;
  }
  return 0;
}

}  // namespace

tl::expected<std::optional<std::string>, Problem> read_text_file(const std::filesystem::path& path,
                                                                 const std::string& shown_name) {
  const auto failed = [&](std::string what) {
    Problem problem;
    problem.file = shown_name;
    problem.what = std::move(what);
    return tl::unexpected(std::move(problem));
  };
  // O_NONBLOCK: opening a pipe that nobody writes must not hang the start.
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.fd < 0) {
    const int error = errno;
    struct stat entry;
    // A link to nowhere is a file that cannot be read, not a file that is not there.
    if (error == ENOENT && ::lstat(path.c_str(), &entry) != 0) return std::nullopt;
    return failed("cannot be read: " + reason(error));
  }
  struct stat status;
  if (::fstat(file.fd, &status) != 0) return failed("cannot be read: " + reason(errno));
  if (S_ISDIR(status.st_mode)) return failed("cannot be read: " + reason(EISDIR));
  if (!S_ISREG(status.st_mode)) return failed("cannot be read: not a regular file");

  std::string text;
  char block[16384];
  while (true) {
    const ssize_t count = ::read(file.fd, block, sizeof block);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed("cannot be read: " + reason(errno));
    if (count == 0) break;
    text.append(block, static_cast<std::size_t>(count));
    if (text.size() > kFileBytesMax) return failed(fmt::format("longer than {} bytes", kFileBytesMax));
  }
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
  return text;
}

void clean_text(std::string& text, ProblemList& problems) {
  int line = 1;
  int told_line = 0;
  std::size_t line_start = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = character(std::string_view(text).substr(at));
    if (length == 0) {
      if (told_line != line) {
        const auto byte = static_cast<unsigned char>(text[at]);
        problems.add(line, static_cast<int>(at - line_start) + 1,
                     fmt::format("byte 0x{:02X} does not belong in a text file", byte),
                     "UTF-8 text without control characters");
        told_line = line;
      }
      text[at] = '?';
    }
    const bool line_end = text[at] == '\n';
    at += length == 0 ? 1 : length;
    if (line_end) {
      ++line;
      line_start = at;
    }
  }
}

}  // namespace telltale::config
