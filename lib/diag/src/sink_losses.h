// SPDX-License-Identifier: Apache-2.0
#pragma once
// SinkLosses: lines that sinks did not take, counted by sink, thread, level and tag.
//
// At most kKeys are told apart; what comes then counts to that sink's "others".
//
// **Thread safety:** backend only.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <telltale/diag/output.h>

#include "batch_origins.h"

namespace telltale::diag {

class SinkLosses {
 public:
  static constexpr std::size_t kKeys = 1024;

  void add(std::string_view sink, std::string_view thread, LineOrigin line);
  bool changed() const noexcept { return changed_; }
  // All of them; nothing has changed since, then.
  std::vector<DropState> take_changed();

 private:
  std::map<std::tuple<std::string, std::string, Level, std::uint32_t>, std::uint64_t> counts_;  // by tag number
  std::map<std::string, std::uint64_t, std::less<>> others_;                                      // by sink
  bool changed_ = false;
};

}  // namespace telltale::diag
