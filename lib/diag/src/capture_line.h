// SPDX-License-Identifier: Apache-2.0
#pragma once
// The backend's side of capture.h.
//
// **Thread safety:** thread-safe; capture_line() takes a lock.

#include <cstdint>
#include <string_view>

namespace telltale::diag {

bool is_captured(std::uint64_t transaction) noexcept;
void capture_line(std::string_view line);
void capture_lost(std::uint64_t lines);

void lock_capture() noexcept;  // around fork()
void unlock_capture() noexcept;

}  // namespace telltale::diag
