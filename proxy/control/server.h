// SPDX-License-Identifier: Apache-2.0
#pragma once
// The control socket's server: a unix stream socket, HTTP/1.1, JSON, for its owner only.
//
// Bytes, limits and peers are dealt with here; what a request means is api.h's, what it does is
// Target's. Requests are answered one at a time on one event loop, so two operators' changes never mix.
//
// A peer must be of the daemon's user or root (SO_PEERCRED), whatever happened to the file's mode; another
// gets 403. What exceeds a limit gets an answer that says so, and the connection is closed.
//
// **Thread safety:** loop-bound: all calls on the io_context's thread, or while it does not run.
// **Source:** RFC 9112; unix(7).

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include <tl/expected.hpp>

#include "control/target.h"

namespace boost::asio {
class io_context;
}

namespace telltale::control {

struct ServerLimits {
  std::size_t content_bytes_max = 64 * 1024;                      // of a request; beyond: 413
  std::size_t head_bytes_max = 8 * 1024;                          // request line and fields; beyond: 431
  std::size_t connections_max = 64;                               // at once; beyond: 503
  std::chrono::milliseconds client_timeout = std::chrono::seconds(10);  // to send a request, or to take an answer
};

class Server {
 public:
  // Makes the socket and accepts. The target outlives the server; the io_context outlives both, or is
  // never run again after one of them has gone. Errors: a sentence that names the path (socket_file.h).
  [[nodiscard]] static tl::expected<std::unique_ptr<Server>, std::string> open(boost::asio::io_context& loop, Target& target,
                                                                               const std::string& path,
                                                                               const ServerLimits& limits = {});
  ~Server();  // stop()
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Removes the socket if it is still ours, closes every connection, and calls the target no more. May
  // be called from within a call of the target; twice does no harm.
  void stop() noexcept;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::size_t connections() const noexcept;

 private:
  struct Shared;
  Server(std::string path, std::shared_ptr<Shared> shared);

  const std::string path_;
  const std::shared_ptr<Shared> shared_;  // with the connections, whose coroutines end after stop()
};

}  // namespace telltale::control
