// SPDX-License-Identifier: Apache-2.0
#pragma once
// CoreFile: the pages of a core file (ELF, 64 bits, this machine's byte order). Trusts none of its numbers.
//
// **Thread safety:** thread-compatible. **Source:** elf(5).

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "unique_fd.h"

namespace telltale::diag {

class CoreFile {
 public:
  // Errors: a sentence that names the file.
  static tl::expected<CoreFile, std::string> open(const std::string& path);
  static bool is_one(const std::string& path);

  // Each page of memory that it has, by its first bytes (at least 64 of them), its place in the file, and the
  // bytes from there to the end of its mapping.
  void for_each_page(const std::function<void(std::string_view page, std::uint64_t offset, std::uint64_t left)>& take) const;
  // False: the file ends before.
  bool read(std::uint64_t offset, char* to, std::size_t bytes) const;

 private:
  struct Segment {
    std::uint64_t offset, bytes;
  };
  CoreFile(UniqueFd file, std::uint64_t bytes) : file_(std::move(file)), bytes_(bytes) {}

  UniqueFd file_;
  std::uint64_t bytes_;
  std::vector<Segment> segments_;
};

}  // namespace telltale::diag
