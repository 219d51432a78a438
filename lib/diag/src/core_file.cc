// SPDX-License-Identifier: Apache-2.0
// See core_file.h; tested in recorder_test.cc.
#include "core_file.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <system_error>

#include <fmt/format.h>

namespace telltale::diag {

namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kPiece = 1024 * 1024;
constexpr std::uint32_t kSegmentsMost = 1'000'000;
constexpr unsigned char kByteOrder = std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;

bool read_at(int fd, std::uint64_t offset, void* to, std::size_t bytes) {
  char* at = static_cast<char*>(to);
  while (bytes > 0) {
    ssize_t n = ::pread(fd, at, bytes, static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    offset += static_cast<std::uint64_t>(n);
    bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

bool is_core_header(const Elf64_Ehdr& header) {
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64 &&
         header.e_ident[EI_DATA] == kByteOrder && header.e_type == ET_CORE && header.e_phentsize == sizeof(Elf64_Phdr);
}

}  // namespace

bool CoreFile::is_one(const std::string& path) {
  UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  Elf64_Ehdr header;
  return file && read_at(file.get(), 0, &header, sizeof header) && is_core_header(header);
}

tl::expected<CoreFile, std::string> CoreFile::open(const std::string& path) {
  UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat is {};
  if (!file || ::fstat(file.get(), &is) != 0) {
    return tl::unexpected(fmt::format("{} cannot be read: {}", path, std::generic_category().message(errno)));
  }
  Elf64_Ehdr header;
  if (!S_ISREG(is.st_mode) || !read_at(file.get(), 0, &header, sizeof header) || !is_core_header(header)) {
    return tl::unexpected(fmt::format("{} is no core file of a 64-bit process of this kind of machine", path));
  }
  std::uint32_t count = header.e_phnum;
  if (header.e_phnum == PN_XNUM) {  // more than fit there
    Elf64_Shdr section;
    if (!read_at(file.get(), header.e_shoff, &section, sizeof section)) count = 0;
    else count = section.sh_info;
  }
  CoreFile core(std::move(file), static_cast<std::uint64_t>(is.st_size));
  for (std::uint32_t i = 0; i < std::min(count, kSegmentsMost); ++i) {
    Elf64_Phdr segment;
    if (!read_at(core.file_.get(), header.e_phoff + std::uint64_t{i} * sizeof segment, &segment, sizeof segment)) break;
    if (segment.p_type != PT_LOAD || segment.p_offset >= core.bytes_) continue;
    core.segments_.push_back({segment.p_offset, std::min<std::uint64_t>(segment.p_filesz, core.bytes_ - segment.p_offset)});
  }
  return core;
}

void CoreFile::for_each_page(
    const std::function<void(std::string_view page, std::uint64_t offset, std::uint64_t left)>& take) const {
  std::string piece(kPiece, '\0');
  for (const Segment& segment : segments_) {
    for (std::uint64_t at = 0; at < segment.bytes; at += kPiece) {
      const std::uint64_t bytes = std::min(kPiece, segment.bytes - at);
      if (!read(segment.offset + at, piece.data(), static_cast<std::size_t>(bytes))) break;
      for (std::uint64_t page = 0; page + 64 <= bytes; page += kPage) {
        take(std::string_view(piece).substr(page, std::min(kPage, bytes - page)), segment.offset + at + page,
             segment.bytes - at - page);
      }
    }
  }
}

bool CoreFile::read(std::uint64_t offset, char* to, std::size_t bytes) const {
  return offset <= bytes_ && bytes <= bytes_ - offset && read_at(file_.get(), offset, to, bytes);
}

}  // namespace telltale::diag
