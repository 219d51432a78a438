// SPDX-License-Identifier: Apache-2.0
#pragma once
// The rule for the path of a unix socket, for both ends. The kernel cuts a longer path without a word,
// and two daemons may then share one cut name while their logs show the full ones.
//
// **Thread safety:** thread-safe.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <sys/un.h>

namespace telltale::control {

inline constexpr std::size_t kSocketPathBytesMax = sizeof(sockaddr_un{}.sun_path) - 1;  // 107 on Linux

// A sentence that names path, length and limit, or nothing if the path can be used.
[[nodiscard]] std::optional<std::string> refuse_socket_path(std::string_view path);

// REQUIRES: !refuse_socket_path(path).
[[nodiscard]] sockaddr_un socket_address(std::string_view path) noexcept;

}  // namespace telltale::control
