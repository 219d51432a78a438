// SPDX-License-Identifier: Apache-2.0
#pragma once
// RecorderDump: what a flight recorder has of a process, from its directory (alive, dead or copied) or from a
// core file: the records of all its rings, merged by time.
//
// **Thread safety:** thread-compatible. Memory: all rings, the dictionary, and 40 bytes a record.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <tl/expected.hpp>

#include "record_log_dictionary.h"
#include "ring_image.h"

namespace telltale::diag {

class RecorderDump {
 public:
  // `path`: a process's directory, or the folder above it (then "current" in it). Reads while the process writes.
  // Errors: a sentence that names the path.
  static tl::expected<RecorderDump, std::string> of_directory(const std::string& path);
  // Errors: no core file that this can read, or one without a recorder's files; says which mappings it needs.
  static tl::expected<RecorderDump, std::string> of_core(const std::string& path);
  static bool is_core(const std::string& path);

  // Events in order of time; false from `take` ends the walk. Views are valid inside it.
  void for_each(const std::function<bool(const LogEvent&)>& take);

  // What was wrong, in sentences; of records that cannot be shown, after for_each().
  const std::vector<std::string>& problems() const noexcept { return problems_; }
  // Empty: the start frame is not readable.
  const std::optional<LogStart>& start() const noexcept { return dictionary_.start(); }
  std::size_t rings() const noexcept { return rings_.size(); }

 private:
  void take_dictionary(std::string_view bytes, const std::string& path);
  void take_clocks(std::string_view bytes);
  void take_ring(AlignedBytes bytes, std::optional<std::uint64_t> claimed_later, const std::string& name);
  bool tell(const RingImage& ring, const RingImage::Entry& entry, const std::function<bool(const LogEvent&)>& take);
  bool tell_gap(const RingImage& ring, const RingImage::Entry& entry, const std::function<bool(const LogEvent&)>& take);
  void problem(std::string what) { problems_.push_back(std::move(what)); }

  LogDictionary dictionary_;
  std::unordered_map<std::uint32_t, std::string> tags_;  // by the number that drops are counted under
  std::vector<RingImage> rings_;
  std::vector<std::string> problems_;
  std::unordered_map<std::string, std::uint64_t> unreadable_;  // records, by what is wrong with them
};

}  // namespace telltale::diag
