// SPDX-License-Identifier: Apache-2.0
#include "control/ttctl/client.h"

#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "control/peer.h"
#include "control/socket_path.h"

namespace telltale::control {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;

struct Client::Connection {
  std::string path;
  std::chrono::milliseconds timeout{};
  asio::io_context loop{1};
  asio::local::stream_protocol::socket socket{loop};
  boost::beast::flat_buffer buffer;
  int pid = 0;
  int pidfd = -1;

  ~Connection() {
    if (pidfd >= 0) ::close(pidfd);
  }
};

namespace {
std::string seconds(std::chrono::milliseconds time) {
  return fmt::format("{} s", static_cast<double>(time.count()) / 1000);
}
}  // namespace

tl::expected<Client, std::string> Client::connect(const std::string& path, std::chrono::milliseconds timeout) {
  if (auto why = refuse_socket_path(path)) return tl::unexpected(*why);
  auto failed = [&](const std::string& why) {
    return tl::unexpected(fmt::format("cannot connect to the daemon at {}: {}", path, why));
  };
  int descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return failed(std::strerror(errno));
  auto connection = std::make_unique<Connection>();
  connection->path = path;
  connection->timeout = timeout;
  connection->socket.assign(asio::local::stream_protocol(), descriptor);

  // A blocking connect with a time-out: Asio takes EAGAIN (the daemon accepts no more) for "under way".
  timeval limit{};
  limit.tv_sec = timeout.count() / 1000;
  limit.tv_usec = timeout.count() % 1000 * 1000;
  ::setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  sockaddr_un address = socket_address(path);
  if (::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return failed(errno == EAGAIN ? fmt::format("it accepts no connection within {}", seconds(timeout)) : std::strerror(errno));
  }
  if (auto peer = peer_of(descriptor); peer && peer->pid > 0) {
    connection->pidfd = static_cast<int>(::syscall(SYS_pidfd_open, peer->pid, 0));
    if (connection->pidfd >= 0) connection->pid = peer->pid;
  }
  return Client(std::move(connection));
}

Client::Client(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}
Client::Client(Client&&) noexcept = default;
Client::~Client() = default;

tl::expected<Reply, std::string> Client::ask(std::string_view method, std::string_view target, std::string_view content) {
  Connection& c = *connection_;
  http::request<http::string_body> request;
  request.method_string(method);
  request.target(target);
  request.set(http::field::host, "localhost");
  if (!content.empty()) request.set(http::field::content_type, "application/json");
  request.body() = content;
  request.prepare_payload();
  http::response_parser<http::string_body> parser;
  parser.body_limit(kReplyBytesMax);

  // A daemon that refuses the connection answers and closes without reading: a failed write is no reason
  // not to read.
  std::optional<error_code> read_result;
  http::async_write(c.socket, request, [](error_code, std::size_t) {});
  http::async_read(c.socket, c.buffer, parser, [&](error_code error, std::size_t) {
    read_result = error;
    error_code ignored;
    if (error) c.socket.close(ignored);
  });
  c.loop.restart();
  c.loop.run_for(c.timeout);
  if (!read_result) {
    error_code ignored;
    c.socket.close(ignored);
    c.loop.run();  // the handlers refer to what is on this stack
    return tl::unexpected(fmt::format("the daemon at {} does not answer: nothing within {}", c.path, seconds(c.timeout)));
  }
  if (*read_result == http::error::body_limit) {
    return tl::unexpected(fmt::format("the daemon at {} answers with more than {} bytes", c.path, kReplyBytesMax));
  }
  if (*read_result) {
    const auto& not_http = make_error_code(http::error::bad_method).category();
    bool closed = *read_result == http::error::end_of_stream || *read_result == http::error::partial_message ||
                  *read_result == boost::system::errc::connection_reset;
    if (!closed && read_result->category() == not_http) {
      return tl::unexpected(fmt::format("what answers at {} is no telltale daemon: it does not speak HTTP", c.path));
    }
    return tl::unexpected(fmt::format("the daemon at {} does not answer: {}", c.path,
                                      closed ? "it closed the connection" : read_result->message()));
  }
  return Reply{parser.get().result_int(), std::move(parser.get().body())};
}

int Client::pid() const noexcept { return connection_->pid; }

bool Client::wait_for_end(std::chrono::milliseconds timeout) const noexcept {
  if (connection_->pidfd < 0) return false;
  pollfd end{connection_->pidfd, POLLIN, 0};
  return ::poll(&end, 1, static_cast<int>(timeout.count())) == 1;
}

}  // namespace telltale::control
