// SPDX-License-Identifier: Apache-2.0
#pragma once
// The last line of each site, kept for the list of sites, also when the module is gone. As text, or as a record
// that is formatted when it is asked for.
//
// **Thread safety:** thread-safe; takes a lock that only the backend and the list take.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <telltale/diag/output.h>

namespace telltale::diag {

inline constexpr std::size_t kLastLineBytesMax = 512;  // of one; the rest is cut

void keep_last_line(std::uint32_t history, std::string_view line);
// `record`: as it lay in the ring.
void keep_last_record(std::uint32_t history, std::string_view record, std::string_view thread, std::int64_t wall_ns,
                      ShowLocation show);
std::string last_line(std::uint32_t history);

void lock_last_lines() noexcept;  // around fork()
void unlock_last_lines() noexcept;

}  // namespace telltale::diag
