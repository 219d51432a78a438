// SPDX-License-Identifier: Apache-2.0
#pragma once
// TemporaryFolder: a folder for one test, gone after it, and what tests ask of the files in it.
//
// **Thread safety:** thread-compatible.

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <sys/stat.h>

namespace telltale::diag {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    char name[] = "/tmp/telltale-unit-XXXXXX";
    path_ = mkdtemp(name);
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

  std::string read(const std::string& name) const {
    std::ifstream in(*this / name);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void write(const std::string& name, const std::string& text) const { std::ofstream(*this / name) << text; }
  bool has(const std::string& name) const { return std::filesystem::exists(std::filesystem::symlink_status(*this / name)); }
  std::uint64_t inode(const std::string& name) const {
    struct stat found {};
    return ::stat((*this / name).c_str(), &found) == 0 ? found.st_ino : 0;
  }
  std::vector<std::string> names() const {  // sorted
    std::vector<std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) all.push_back(entry.path().filename());
    std::sort(all.begin(), all.end());
    return all;
  }
  std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) sum += std::filesystem::file_size(entry);
    return sum;
  }

 private:
  std::string path_;
};

}  // namespace telltale::diag
