// SPDX-License-Identifier: Apache-2.0
// See journal_stream.h; tested in journal_stream_test.cc.
#include "journal_stream.h"

#include <sys/stat.h>

#include <charconv>

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

}  // namespace telltale::diag
