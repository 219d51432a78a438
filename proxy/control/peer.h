// SPDX-License-Identifier: Apache-2.0
#pragma once
// Who is at the other end of a unix socket, as the kernel knows it.
//
// **Thread safety:** thread-safe.

#include <optional>

#include <sys/types.h>

namespace telltale::control {

struct Peer {
  pid_t pid;  // 0: in another pid namespace
  uid_t uid;
};

[[nodiscard]] std::optional<Peer> peer_of(int unix_socket) noexcept;

// May this peer command a daemon that runs as `owner`?
[[nodiscard]] constexpr bool may_command(uid_t peer, uid_t owner) noexcept { return peer == owner || peer == 0; }

}  // namespace telltale::control
