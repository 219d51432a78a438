// SPDX-License-Identifier: Apache-2.0
#pragma once
// What every change of the sources begins with: a copy of those in force, and checks.
//
// **Thread safety:** REQUIRES: Registry::changes is held.

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include <tl/expected.hpp>

#include "debug_control_sources.h"

namespace telltale::diag {

constexpr std::uint64_t source_bit(unsigned source) noexcept { return std::uint64_t{1} << source; }

// Those that no lease's coming or going touches: base and recorder.
inline constexpr std::uint64_t kLasting = source_bit(0) | source_bit(kRecorderSource);

std::shared_ptr<Sources> copy_of_sources();
std::optional<Refusal> check_client_blocks(const Sources& sources);
std::optional<Refusal> check_sample(std::uint32_t sample);

// The pattern of tags, which may be empty where there are rules, and the rules behind it.
// Errors: the offset counts in the text that is wrong.
tl::expected<std::shared_ptr<const RuleList>, Refusal> compile_rules(std::string_view tags, std::string_view rules);

// The sources of the leases that are open.
std::uint64_t lease_bits(const Sources& sources) noexcept;

}  // namespace telltale::diag
