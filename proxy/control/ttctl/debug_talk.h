// SPDX-License-Identifier: Apache-2.0
#pragma once
// Commands that take more than one request: pages of sites, a preview's end, a transaction that is followed.
//
// Each returns the answer to show: the last one, with what the others added. A refusal is an answer too.
//
// **Thread safety:** thread-compatible.

#include <string>

#include <tl/expected.hpp>

#include "control/ttctl/client.h"
#include "control/ttctl/command_line.h"

namespace telltale::control {

inline constexpr std::size_t kFollowedBytesMax = 16 * 1024 * 1024;  // of lines that are kept to be shown

[[nodiscard]] tl::expected<Reply, std::string> ask_for_all_sites(Client& client, const Command& command);
[[nodiscard]] tl::expected<Reply, std::string> wait_for_preview(Client& client, const Command& command);
[[nodiscard]] tl::expected<Reply, std::string> follow_to_its_end(Client& client, const Command& command);

}  // namespace telltale::control
