// SPDX-License-Identifier: Apache-2.0
#pragma once
// A folder of a test's own, removed with all that is in it. Its path is short enough for a socket.

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace telltale::control {

class TempDir {
 public:
  TempDir() {
    char path[] = "/tmp/ttc-XXXXXX";
    if (::mkdtemp(path) == nullptr) throw std::runtime_error("mkdtemp failed");
    path_ = path;
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace telltale::control
