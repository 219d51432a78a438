// SPDX-License-Identifier: Apache-2.0
#include "control/peer.h"

#include <sys/socket.h>

namespace telltale::control {

std::optional<Peer> peer_of(int unix_socket) noexcept {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  if (::getsockopt(unix_socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return std::nullopt;
  return Peer{credentials.pid, credentials.uid};
}

}  // namespace telltale::control
