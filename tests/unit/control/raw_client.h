// SPDX-License-Identifier: Apache-2.0
#pragma once
// A client that sends exactly the bytes it is told to, over a unix socket. Every wait ends after 20 s, so
// that a broken server fails a test and does not hang it.

#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>

#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "control/socket_path.h"

namespace telltale::control {

struct RawAnswer {
  int status = 0;  // 0: the connection ended instead
  std::string head;
  std::string content;
};

class RawClient {
 public:
  explicit RawClient(const std::string& path) : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    timeval limit{20, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    sockaddr_un address = socket_address(path);
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      int error = errno;
      ::close(socket_);
      throw std::runtime_error(path + ": " + std::strerror(error));
    }
  }
  ~RawClient() { ::close(socket_); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      ssize_t n = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return;  // the server has closed; what it said can still be read
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
  }
  void end_sending() { ::shutdown(socket_, SHUT_WR); }

  // The next answer; it has to say its length.
  RawAnswer receive() {
    RawAnswer answer;
    std::size_t end;
    while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) {
      if (!more()) return answer;
    }
    answer.head = buffer_.substr(0, end + 2);
    buffer_.erase(0, end + 4);
    answer.status = std::atoi(answer.head.substr(9, 3).c_str());
    std::size_t length = 0;
    if (const char* field = ::strcasestr(answer.head.c_str(), "\r\ncontent-length:")) length = std::strtoul(field + 17, nullptr, 10);
    while (buffer_.size() < length) {
      if (!more()) return {};
    }
    answer.content = buffer_.substr(0, length);
    buffer_.erase(0, length);
    return answer;
  }
  // True: the server has closed, and everything it sent has been received.
  bool ended() { return buffer_.empty() && !more(); }

  RawAnswer ask(std::string_view method, std::string_view target, std::string_view content = {}) {
    std::string request = std::string(method) + ' ' + std::string(target) + " HTTP/1.1\r\nHost: localhost\r\n";
    if (!content.empty()) request += "Content-Length: " + std::to_string(content.size()) + "\r\n";
    send(request + "\r\n" + std::string(content));
    return receive();
  }
  [[nodiscard]] int descriptor() const { return socket_; }

 private:
  bool more() {
    char bytes[16384];
    ssize_t n = ::recv(socket_, bytes, sizeof bytes, 0);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) throw std::runtime_error("nothing came for 20 s");
    if (n <= 0) return false;
    buffer_.append(bytes, static_cast<std::size_t>(n));
    return true;
  }

  int socket_;
  std::string buffer_;
};

}  // namespace telltale::control
