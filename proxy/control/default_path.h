// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where the control socket is if nobody says otherwise. One rule, used by the daemon and by ttctl.
//
// **Thread safety:** thread-safe.

#include <string>
#include <string_view>

namespace telltale::control {

// The configuration folder, relative to the current one.
inline constexpr std::string_view kDefaultConfigDir = "configs/demo";

// Logs and the control socket lie below it.
[[nodiscard]] std::string default_runtime_dir(std::string_view config_dir = kDefaultConfigDir);
[[nodiscard]] std::string default_control_path(std::string_view runtime_dir);

}  // namespace telltale::control
