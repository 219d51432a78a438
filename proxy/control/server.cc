// SPDX-License-Identifier: Apache-2.0
#include "control/server.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <telltale/diag/dbg.h>
#include <telltale/diag/level.h>
#include <telltale/diag/secret_values.h>
#include <telltale/diag/throttle.h>
#include <unistd.h>

#include "control/api.h"
#include "control/peer.h"
#include "control/socket_file.h"

namespace telltale::control {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;
using Protocol = asio::local::stream_protocol;

constexpr DbgCtl control_dbg{"control"};

namespace {

constexpr auto kAsTuple = asio::as_tuple(asio::use_awaitable);
// After accept(2) failed for want of descriptors: trying again at once would only burn the processor.
constexpr std::chrono::milliseconds kAcceptPause{100};

std::string text_of(const Peer& peer) { return fmt::format("uid {} pid {}", peer.uid, peer.pid); }

http::response<http::string_body> response_for(const Answer& answer, bool keep_alive, bool head_only) {
  http::response<http::string_body> response{http::int_to_status(answer.status), 11};
  response.set(http::field::content_type, "application/json");
  response.set(http::field::cache_control, "no-store");
  if (!answer.allow.empty()) response.set(http::field::allow, answer.allow);
  response.keep_alive(keep_alive);
  if (!head_only) response.body() = answer.json;
  response.prepare_payload();
  return response;
}

// For peers that get no connection: as much as the socket takes at once, which is all of it.
void refuse_at_once(int socket, const Answer& answer) {
  std::string bytes = fmt::format("HTTP/1.1 {} {}\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{}",
                                  answer.status, std::string_view(http::obsolete_reason(http::int_to_status(answer.status))),
                                  answer.json.size(), answer.json);
  [[maybe_unused]] ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

// What is said about a request that could not be read; nothing: the peer has gone, or was only idle.
std::optional<Answer> answer_for(error_code error, bool timed_out, bool begun, const ServerLimits& limits) {
  if (timed_out) {
    if (!begun) return std::nullopt;
    return refusal(408, fmt::format("the request was not complete within {} ms", limits.client_timeout.count()));
  }
  if (error == http::error::body_limit) {
    return refusal(413, fmt::format("the content of a request is limited to {} bytes", limits.content_bytes_max));
  }
  if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    return refusal(431, fmt::format("request line and fields are limited to {} bytes", limits.head_bytes_max));
  }
  if (error == http::error::end_of_stream || error.category() != make_error_code(http::error::bad_method).category()) {
    return std::nullopt;
  }
  return refusal(400, fmt::format("not an HTTP/1.1 request: {}", error.message()));
}

}  // namespace

struct Server::Shared : std::enable_shared_from_this<Server::Shared> {
  struct Connection;

  Shared(asio::io_context& loop, Target& t, const ServerLimits& l, SocketFile f)
      : target(t), limits(l), file(std::move(f)), acceptor(loop), pause(loop) {
    acceptor.assign(Protocol(), file.release());
  }

  asio::awaitable<void> accept();
  void take(Protocol::socket socket);
  void stop() noexcept;

  Target& target;  // not called once stopped
  const ServerLimits limits;
  const uid_t owner = ::geteuid();
  SocketFile file;
  Protocol::acceptor acceptor;
  asio::steady_timer pause;
  std::vector<Connection*> connections;  // each lives in its coroutine
  bool stopped = false;
};

// One client's connection: reads, answers, until one side has had enough.
struct Server::Shared::Connection : std::enable_shared_from_this<Connection> {
  Connection(std::shared_ptr<Shared> s, Protocol::socket from, Peer p)
      : shared(std::move(s)), socket(std::move(from)), timer(socket.get_executor()), peer(p) {
    shared->connections.push_back(this);
  }
  ~Connection() { std::erase(shared->connections, this); }

  asio::awaitable<void> run();
  asio::awaitable<bool> read(http::request_parser<http::string_body>& parser);
  asio::awaitable<bool> write(const Answer& answer, bool keep_alive, bool head_only);

  // Cancels what is waited for, once the time is over. A completion that is queued already when the
  // deadline moves or ends finds another number.
  void start_deadline() {
    std::uint64_t mine = ++deadline;
    timer.expires_after(shared->limits.client_timeout);
    timer.async_wait([self = shared_from_this(), mine](error_code error) {
      if (error || self->deadline != mine) return;
      self->timed_out = true;
      error_code ignored;
      self->socket.cancel(ignored);
    });
  }
  void end_deadline() {
    ++deadline;
    timer.cancel();
  }

  const std::shared_ptr<Shared> shared;
  Protocol::socket socket;
  asio::steady_timer timer;
  const Peer peer;
  boost::beast::flat_buffer buffer{64 * 1024};
  std::uint64_t deadline = 0;
  bool timed_out = false;
};

// True: a whole request. False: it has been answered as far as it can be, and the connection ends.
asio::awaitable<bool> Server::Shared::Connection::read(http::request_parser<http::string_body>& parser) {
  parser.header_limit(static_cast<std::uint32_t>(shared->limits.head_bytes_max));
  parser.body_limit(shared->limits.content_bytes_max);
  start_deadline();
  error_code error;
  std::size_t head_bytes = 0;
  std::tie(error, head_bytes) = co_await http::async_read_header(socket, buffer, parser, kAsTuple);
  // Beast holds the request line and the fields to the limit one by one; this is both.
  if (!error && head_bytes > shared->limits.head_bytes_max) error = http::error::header_limit;
  if (!error && !parser.is_done() && boost::beast::iequals(parser.get()[http::field::expect], "100-continue")) {
    http::response<http::empty_body> go_on{http::status::continue_, 11};
    std::tie(error, std::ignore) = co_await http::async_write(socket, go_on, kAsTuple);
  }
  if (!error) std::tie(error, std::ignore) = co_await http::async_read(socket, buffer, parser, kAsTuple);
  end_deadline();
  if (!error) co_return true;

  // After its last answer a peer goes; that is how every call of ttctl ends.
  if (error == http::error::end_of_stream && !parser.got_some()) co_return false;
  auto answer = answer_for(error, timed_out, parser.got_some(), shared->limits);
  Dbg(control_dbg, "peer {}: no request: {}", text_of(peer), timed_out ? std::string("time-out") : error.message(),
      field("status", answer ? answer->status : 0U));
  if (answer) co_await write(*answer, false, false);
  co_return false;
}

asio::awaitable<bool> Server::Shared::Connection::write(const Answer& answer, bool keep_alive, bool head_only) {
  auto response = response_for(answer, keep_alive, head_only);
  timed_out = false;
  start_deadline();
  auto [error, unused] = co_await http::async_write(socket, response, kAsTuple);
  end_deadline();
  if (error) Dbg(control_dbg, "peer {}: answer not sent: {}", text_of(peer), timed_out ? std::string("time-out") : error.message());
  co_return !error;
}

asio::awaitable<void> Server::Shared::Connection::run() {
  for (bool keep_alive = true; keep_alive && !shared->stopped;) {
    http::request_parser<http::string_body> parser;
    if (!co_await read(parser) || shared->stopped) co_return;
    const auto& request = parser.get();
    keep_alive = request.keep_alive();
    std::string_view method = request.method_string(), target = request.target();

    Answer answer = control::answer(shared->target, method, target, request.body(), text_of(peer));
    Dbg(control_dbg, "peer {}: {} {}", text_of(peer), method, target, field("status", answer.status));
    answer.json = diag::without_secret_values(answer.json);
    const diag::Unthrottled each;
    if (!answer.change.empty()) diag::note("control: {} {}", text_of(peer), answer.change);
    keep_alive = co_await write(answer, keep_alive, method == "HEAD") && keep_alive;
    // Also when the answer could not be sent: the peer asked for it.
    if (answer.stop && !shared->stopped) shared->target.stop();
  }
}

void Server::Shared::take(Protocol::socket socket) {
  int descriptor = socket.native_handle();
  ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  auto peer = peer_of(descriptor);
  if (!peer || !may_command(peer->uid, owner)) {
    diag::warning("control: refused {}: only user {} and root may use the control socket",
                  peer ? text_of(*peer) : std::string("an unknown peer"), owner);
    refuse_at_once(descriptor, refusal(403, fmt::format("only user {} and root may use this control socket", owner)));
    return;
  }
  if (connections.size() >= limits.connections_max) {
    diag::warning("control: refused {}: {} connections are open already", text_of(*peer), connections.size());
    refuse_at_once(descriptor, refusal(503, fmt::format("{} connections to the control socket are open, which is the limit",
                                                        limits.connections_max)));
    return;
  }
  Dbg(control_dbg, "peer {}: connected", text_of(*peer), field("connections", connections.size() + 1));
  auto connection = std::make_shared<Connection>(shared_from_this(), std::move(socket), *peer);
  asio::co_spawn(
      acceptor.get_executor(), [connection] { return connection->run(); },
      [who = *peer](std::exception_ptr failure) {
        try {
          if (failure) std::rethrow_exception(failure);
        } catch (const std::exception& e) {
          diag::error("control: connection of {} ended: {}", text_of(who), e.what());
        }
      });
}

asio::awaitable<void> Server::Shared::accept() {
  auto self = shared_from_this();  // until the last accept has returned
  while (!stopped) {
    auto [error, socket] = co_await acceptor.async_accept(kAsTuple);
    if (stopped) co_return;
    if (!error) {
      take(std::move(socket));
      continue;
    }
    diag::error("control: cannot accept a connection: {}", error.message());
    pause.expires_after(kAcceptPause);
    co_await pause.async_wait(kAsTuple);
  }
}

void Server::Shared::stop() noexcept {
  if (std::exchange(stopped, true)) return;
  file.remove();
  error_code ignored;
  acceptor.close(ignored);
  pause.cancel();
  for (Connection* connection : connections) {
    connection->end_deadline();
    connection->socket.close(ignored);
  }
}

tl::expected<std::unique_ptr<Server>, std::string> Server::open(asio::io_context& loop, Target& target, const std::string& path,
                                                                const ServerLimits& limits) {
  auto file = SocketFile::open(path);
  if (!file) return tl::unexpected(std::move(file.error()));
  auto shared = std::make_shared<Shared>(loop, target, limits, std::move(*file));
  asio::co_spawn(
      loop, [shared] { return shared->accept(); },
      [](std::exception_ptr failure) {
        try {
          if (failure) std::rethrow_exception(failure);
        } catch (const std::exception& e) {
          diag::error("control: the control socket accepts no more: {}", e.what());
        }
      });
  return std::unique_ptr<Server>(new Server(path, std::move(shared)));
}

Server::Server(std::string path, std::shared_ptr<Shared> shared) : path_(std::move(path)), shared_(std::move(shared)) {}
Server::~Server() { stop(); }
void Server::stop() noexcept { shared_->stop(); }
std::size_t Server::connections() const noexcept { return shared_->connections.size(); }

}  // namespace telltale::control
