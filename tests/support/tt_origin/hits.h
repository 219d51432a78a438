// SPDX-License-Identifier: Apache-2.0
#pragma once
// Counts the requests for each path, so that a test sees what reached the origin and what a cache kept away.
//
// **Thread safety:** thread-safe.
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace tt_origin {

class Hits {
 public:
  // Distinct paths counted by name; the requests for any further path are counted together.
  static constexpr std::size_t kPathsMax = 20'000;

  void count(const std::string& path);
  // {"total": 3, "paths": {"/a": 2, "/b": 1}, "other": 0}
  std::string json() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::uint64_t> paths_;  // guarded by mutex_, as all below
  std::uint64_t total_ = 0;
  std::uint64_t other_ = 0;
};

}  // namespace tt_origin
