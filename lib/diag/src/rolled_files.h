// SPDX-License-Identifier: Apache-2.0
#pragma once
// The rolled files of one log: what there is, and which of them have to go.
//
// **Thread safety:** pure functions, but list_rolled(), which reads a folder.

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

#include <telltale/diag/output.h>

#include "rolled_name.h"

namespace telltale::diag {

struct RolledFile {
  std::string file;  // without folder
  RolledName name;
  std::uint64_t bytes = 0;
  std::chrono::system_clock::time_point rolled;  // when it was last written to
  dev_t device = 0;
  ino_t inode = 0;
};

// In order of rolling. Regular files of exactly our names alone, parts included; what cannot be looked at
// is left out. Cost: reads the folder, one stat(2) for each that is ours.
std::vector<RolledFile> list_rolled(const std::string& folder, const std::string& base);

// How many of `files`, from the front, have to be deleted. REQUIRES: `files` is in order of rolling and
// has no parts. `live_bytes`: what the live file has or may still grow to; it counts, but is never deleted.
std::size_t rolled_to_delete(const std::vector<RolledFile>& files, const RollSettings& settings, std::uint64_t live_bytes,
                             std::chrono::system_clock::time_point now);

}  // namespace telltale::diag
