// SPDX-License-Identifier: Apache-2.0
#pragma once
// Names of rolled files: diags.log.20261130T101500Z.000017, with .zst behind it when it is compressed.
//
// The time is that of the file's first entry, in UTC. The sequence number goes on from file to file, also
// over restarts, so names sort in the order of rolling whatever the wall clock did. Only what has exactly
// this form is ours: what is deleted and compressed is chosen by parse_rolled_name() and nothing else.
//
// **Thread safety:** pure functions.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace telltale::diag {

enum class RolledForm : std::uint8_t {
  kPlain,
  kCompressed,  // .zst
  kPart,        // .zst.part: a compression under way, or what is left of one
};
inline constexpr std::string_view kCompressedSuffix = ".zst", kPartSuffix = ".zst.part";

struct RolledName {
  std::chrono::sys_seconds first_entry;
  std::uint64_t sequence = 0;
  RolledForm form = RolledForm::kPlain;
};

// `base` is the live file's name without folder. REQUIRES: the time is in the years 1 to 9999.
std::string rolled_name(std::string_view base, std::chrono::sys_seconds first_entry, std::uint64_t sequence);
// Nothing: it is not a rolled file of `base`.
std::optional<RolledName> parse_rolled_name(std::string_view base, std::string_view name);

}  // namespace telltale::diag
