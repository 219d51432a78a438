// SPDX-License-Identifier: Apache-2.0
#include "control/socket_path.h"

#include <cstring>

#include <fmt/format.h>
#include <sys/socket.h>

namespace telltale::control {

std::optional<std::string> refuse_socket_path(std::string_view path) {
  if (path.empty()) return "the path of the control socket is empty";
  if (path.find('\0') != std::string_view::npos) return "the path of the control socket contains a NUL byte";
  if (path.size() > kSocketPathBytesMax) {
    return fmt::format("the path of the control socket is too long: {} is {} bytes, the limit is {}", path, path.size(),
                       kSocketPathBytesMax);
  }
  return std::nullopt;
}

sockaddr_un socket_address(std::string_view path) noexcept {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

}  // namespace telltale::control
