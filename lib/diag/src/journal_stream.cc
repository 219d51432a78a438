// SPDX-License-Identifier: Apache-2.0
// See journal_stream.h; tested in journal_stream_test.cc.
#include "journal_stream.h"

#include <sys/stat.h>

#include <unistd.h>

#include <charconv>
#include <cstdlib>

#include <telltale/diag/level.h>

namespace telltale::diag {

std::optional<JournalStream> parse_journal_stream(std::string_view text) noexcept {
  JournalStream stream;
  const char* const end = text.data() + text.size();
  auto device = std::from_chars(text.data(), end, stream.device);
  if (device.ec != std::errc{} || device.ptr == end || *device.ptr != ':') return std::nullopt;
  auto inode = std::from_chars(device.ptr + 1, end, stream.inode);
  if (inode.ec != std::errc{} || inode.ptr != end) return std::nullopt;
  return stream;
}

bool is_journal_stream(int fd, const JournalStream& stream) noexcept {
  struct stat found {};
  return ::fstat(fd, &found) == 0 && JournalStream{found.st_dev, found.st_ino} == stream;
}

bool stderr_is_journal_stream() {
  const char* text = ::getenv("JOURNAL_STREAM");
  if (text == nullptr || *text == '\0') return false;
  if (auto stream = parse_journal_stream(text)) return is_journal_stream(STDERR_FILENO, *stream);
  [[maybe_unused]] static const bool told = [&] {
    note("JOURNAL_STREAM is '{}' and not of use: expected DEVICE:INODE, two numbers; stderr stays as it is", text);
    return true;
  }();
  return false;
}

}  // namespace telltale::diag
