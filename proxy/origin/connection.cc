// SPDX-License-Identifier: Apache-2.0
#include "origin/connection.h"

#include <cerrno>

#include <sys/socket.h>

namespace telltale::origin {

bool Connection::usable() const noexcept {
  if (stream->peer_gone() || !input.empty()) return false;
  char byte;
  // Silence is the only good answer: an end of data is a closed connection, and a byte would be read as the
  // response to the next request.
  return ::recv(stream->fd(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

}  // namespace telltale::origin
