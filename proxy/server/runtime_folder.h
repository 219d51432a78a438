// SPDX-License-Identifier: Apache-2.0
#pragma once
// The runtime folder (--runtime): made if it is missing, and locked, so that no two daemons write one diags.log.
//
// The lock is flock(2) on the file telltale.lock in it, which holds the process id. The kernel drops the lock
// with the process, however that ends; the file stays, since removing it could take away another's lock.
//
// **Thread safety:** thread-compatible.

#include <filesystem>
#include <string>

#include <tl/expected.hpp>

#include "net/unique_fd.h"

namespace telltale::server {

class RuntimeFolder {
 public:
  // Errors: a sentence with the folder, and with the holder's process id where it is locked.
  [[nodiscard]] static tl::expected<RuntimeFolder, std::string> lock(const std::filesystem::path& folder);

 private:
  explicit RuntimeFolder(net::UniqueFd file) : file_(std::move(file)) {}

  net::UniqueFd file_;  // open: locked
};

}  // namespace telltale::server
