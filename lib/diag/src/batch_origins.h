// SPDX-License-Identifier: Apache-2.0
#pragma once
// BatchOrigins: whose the lines of a batch are. Looked at only if a sink does not take them.
//
// **Thread safety:** backend only.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <telltale/diag/record.h>

namespace telltale::diag {

struct LineOrigin {
  static constexpr std::uint32_t kTag = 0x4000'0000;  // the number is a tag's: sites have smaller ones
  static constexpr std::uint16_t kBackend = 0xFFFF;   // a line of the backend's own

  std::uint32_t number = 0;  // of the dictionary, or of the tag; 0: no tag is known
  std::uint16_t thread = kBackend;  // number of its ring
  Level level = Level::kDebug;
};

class BatchOrigins {
 public:
  void add(LineOrigin line) { lines_.push_back(line); }
  std::size_t size() const noexcept { return lines_.size(); }
  void clear() noexcept { lines_.clear(); }

  // What a sink leaves over is the batch's end.
  template <class F>
  void for_last(std::uint64_t count, F f) const {
    for (std::size_t i = lines_.size() - (count < lines_.size() ? count : lines_.size()); i < lines_.size(); ++i) f(lines_[i]);
  }

 private:
  std::vector<LineOrigin> lines_;
};

}  // namespace telltale::diag
