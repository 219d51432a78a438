// SPDX-License-Identifier: Apache-2.0
#pragma once
// ttctl's end of the control socket: one connection, requests and answers, each with a time-out.
//
// **Thread safety:** thread-compatible.

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace telltale::control {

struct Reply {
  unsigned status;
  std::string content;
};

inline constexpr std::size_t kReplyBytesMax = 16 * 1024 * 1024;

class Client {
 public:
  // Errors: a sentence with the path and the reason. Cost: waits for at most `timeout`.
  [[nodiscard]] static tl::expected<Client, std::string> connect(const std::string& path, std::chrono::milliseconds timeout);
  Client(Client&&) noexcept;
  ~Client();

  // Errors: a sentence; the connection cannot be used again. Cost: waits for at most the time-out.
  [[nodiscard]] tl::expected<Reply, std::string> ask(std::string_view method, std::string_view target,
                                                     std::string_view content = {});

  // The daemon's process, 0 if it cannot be seen or waited for from here. Known from connect() on, so that its number
  // cannot be another process's by the time it is waited for.
  [[nodiscard]] int pid() const noexcept;
  // True: the process has ended. Cost: waits for at most `timeout`.
  [[nodiscard]] bool wait_for_end(std::chrono::milliseconds timeout) const noexcept;

 private:
  struct Connection;
  explicit Client(std::unique_ptr<Connection> connection);
  std::unique_ptr<Connection> connection_;
};

}  // namespace telltale::control
