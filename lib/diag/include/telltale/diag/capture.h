// SPDX-License-Identifier: Apache-2.0
#pragma once
// Capture: the lines of one transaction, kept in memory for whoever follows it, beside where they go anyway.
//
// One at a time. At most kCaptureBytesMax wait to be taken; what comes while that is full is counted.
//
// **Thread safety:** thread-safe. Lines are added by the backend; flush_output() before the last taking.

#include <cstdint>
#include <string>

#include <telltale/diag/export.h>

namespace telltale::diag {

inline constexpr std::size_t kCaptureBytesMax = 1024 * 1024;

// From now on the lines of this transaction are kept; 0: of none. What has been kept stays.
TELLTALE_EXPORT void capture_transaction(std::uint64_t transaction) noexcept;
// Nothing is kept and nothing counted as lost.
TELLTALE_EXPORT void clear_capture();

struct Captured {
  std::string lines;             // whole ones, each ended by '\n', since the last call
  std::uint64_t lines_lost = 0;  // since clear_capture()
};
TELLTALE_EXPORT Captured take_captured();

}  // namespace telltale::diag
