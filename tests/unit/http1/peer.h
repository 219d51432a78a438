// SPDX-License-Identifier: Apache-2.0
#pragma once
// The test's end of a connection: sends and reads as a script, one thing after another. What does not come within
// a minute fails the test; no test waits for time to pass.

#include <array>
#include <cerrno>
#include <chrono>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include "net/unique_fd.h"

namespace telltale::test {

// Asks until it is true.
template <class Condition>
void wait_until(const char* what, Condition condition) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes{1};
  while (!condition()) {
    if (std::chrono::steady_clock::now() > limit) throw std::runtime_error(std::string("did not happen: ") + what);
  }
}

class Peer {
 public:
  Peer() = default;
  explicit Peer(net::UniqueFd socket) : socket_(std::move(socket)) {
    ::fcntl(socket_.get(), F_SETFL, ::fcntl(socket_.get(), F_GETFL) | O_NONBLOCK);
  }

  void send(std::string_view text) {
    while (!text.empty()) {
      const std::size_t sent = send_some(text);
      text.remove_prefix(sent);
      if (sent == 0) wait(POLLOUT);
    }
  }
  // What the socket takes now; 0 if nothing.
  std::size_t send_some(std::string_view text) {
    const ssize_t sent = ::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN) throw std::runtime_error("the other end does not take bytes any more");
    return sent < 0 ? 0 : static_cast<std::size_t>(sent);
  }

  // Exactly `bytes` bytes.
  std::string read(std::size_t bytes) {
    while (buffer_.size() < bytes) more_or_throw();
    return take(bytes);
  }
  // All up to and with `mark`.
  std::string read_to(std::string_view mark) {
    std::size_t at;
    while ((at = buffer_.find(mark)) == std::string::npos) more_or_throw();
    return take(at + mark.size());
  }
  std::string read_head() { return read_to("\r\n\r\n"); }
  // All until the other end ends the connection.
  std::string read_to_end() {
    while (more()) {
    }
    return std::exchange(buffer_, {});
  }
  // As read_to_end(), and says how it ended.
  bool ends_by_reset() {
    read_to_end();
    return reset_;
  }
  // Nothing lies there unread, and the connection is up, now.
  bool silent() {
    char byte;
    return buffer_.empty() && ::recv(socket_.get(), &byte, 1, MSG_PEEK) < 0 && errno == EAGAIN;
  }

  void shutdown_write() { ::shutdown(socket_.get(), SHUT_WR); }
  void close() { socket_.reset(); }
  int fd() const { return socket_.get(); }

 private:
  void wait(short events) {
    pollfd one{socket_.get(), events, 0};
    if (::poll(&one, 1, 60'000) <= 0) throw std::runtime_error("nothing came within a minute, there is: " + buffer_);
  }
  // False: the end.
  bool more() {
    std::array<char, 65536> bytes;
    for (;;) {
      const ssize_t got = ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
      if (got > 0) {
        buffer_.append(bytes.data(), static_cast<std::size_t>(got));
        return true;
      }
      if (got == 0) return false;
      if (errno != EAGAIN) {
        reset_ = errno == ECONNRESET;
        return false;
      }
      wait(POLLIN);
    }
  }
  void more_or_throw() {
    if (!more()) throw std::runtime_error("the connection ended, there is: " + buffer_);
  }
  std::string take(std::size_t bytes) {
    std::string text = buffer_.substr(0, bytes);
    buffer_.erase(0, bytes);
    return text;
  }

  net::UniqueFd socket_;
  std::string buffer_;
  bool reset_ = false;
};

}  // namespace telltale::test
