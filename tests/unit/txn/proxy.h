// SPDX-License-Identifier: Apache-2.0
#pragma once
// Transactions end to end in one process: sessions and transactions on a worker whose clock the test moves, and a
// listening socket as the origin. The test's thread plays both the client and the origin, one after the other, so
// that every test is one order of events.

#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <sys/ioctl.h>

#include "net/listener.h"
#include "tests/unit/http1/peer.h"
#include "tests/unit/net/on_worker.h"
#include "txn/transaction.h"

namespace telltale::txn::test {

using std::chrono::seconds;
using telltale::test::Peer;
using telltale::test::wait_until;

// The worker's clock begins then.
inline const std::string kDate = "Date: Mon, 30 Nov 2026 10:00:00 GMT\r\n";

class Origin {
 public:
  // receive_bytes: of the buffer of each connection; 0 leaves it to the kernel.
  explicit Origin(int receive_bytes = 0) : sockets_(std::move(*net::listen_on(*net::Endpoint::parse("127.0.0.1:0"), 1))) {
    if (receive_bytes != 0) ::setsockopt(fd(), SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes);
  }
  std::uint16_t port() const { return net::local_endpoint(fd()).port(); }
  std::string authority() const { return fmt::format("127.0.0.1:{}", port()); }
  Peer accept() {
    pollfd one{fd(), POLLIN, 0};
    if (::poll(&one, 1, 60'000) <= 0) throw std::runtime_error("no connection came within a minute");
    return Peer(net::UniqueFd(::accept4(fd(), nullptr, nullptr, SOCK_CLOEXEC)));
  }
  bool asked() {
    pollfd one{fd(), POLLIN, 0};
    return ::poll(&one, 1, 0) > 0;
  }

 private:
  int fd() const { return sockets_.front().get(); }
  std::vector<net::UniqueFd> sockets_;
};

class Proxy {
 public:
  explicit Proxy(Origin& origin) : origin_(origin) {
    settings.request_via = settings.response_via = false;
    apply();
    state->session_settings.client_inactivity_max = seconds{300};  // the origin's time-outs come first
  }
  ~Proxy() { stop(); }

  // Puts `settings` in force.
  void apply() {
    auto runtime = std::make_shared<Runtime>();
    runtime->remap = *remap::parse_remap_table(fmt::format("map http://a/ http://{}/\n", origin_.authority()), "remap.config");
    runtime->settings = settings;
    on.call([&] {
      if (!state) {
        state.emplace(on.worker(), cache, flights, hooks, runtime, 32 * 1024, connection_ids_, transaction_ids_);
        handler_.emplace(*state);
      }
      state->runtime = runtime;
    });
  }
  void add_hook(Hook hook, std::string plugin, HookFunction function) {
    on.call([&] { hooks.add(hook, std::move(plugin), std::move(function)); });
  }

  Peer client() {
    const auto sockets = net::listen_on(*net::Endpoint::parse("127.0.0.1:0"), 1);
    sockaddr_storage address;
    const socklen_t length = net::local_endpoint(sockets->front().get()).to_sockaddr(address);
    net::UniqueFd ours(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    REQUIRE(::connect(ours.get(), reinterpret_cast<sockaddr*>(&address), length) == 0);
    net::UniqueFd theirs(::accept4(sockets->front().get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    REQUIRE(theirs);
    on.call([&] {
      auto stream = std::make_unique<net::Stream>(on.worker(), std::move(theirs), net::Endpoint{});
      stream_ = stream.get();
      serve(std::move(stream));
    });
    return Peer(std::move(ours));
  }
  // Received on the last client connection. REQUIRES: it has not ended.
  std::uint64_t bytes_in() {
    return on.call([this] { return stream_->bytes_in(); });
  }

  // The proxy lets bytes of the last client lie: it is held back itself.
  bool holds_back() {
    const auto unread = [this] {
      int bytes = 0;
      ::ioctl(stream_->fd(), FIONREAD, &bytes);
      return bytes;
    };
    const std::uint64_t before = bytes_in();
    for (int i = 0; i < 10; ++i) on.settle();
    return on.call(unread) > 0 && bytes_in() == before;
  }

  std::size_t idle_origins() {
    on.settle();
    return on.call([this] { return state->origins.idle_count(); });
  }
  std::uint64_t count(Counter Counters::*which) { return (state->counters.*which).value(); }
  // Every client connection has ended and left nothing behind but pooled origin connections.
  void all_ended(std::size_t sessions) {
    wait_until("sessions end", [&] { return on.call([this] { return ended_; }) == sessions; });
    CHECK(on.call([] { return net::Detached::live(); }) == 0);
    CHECK(on.worker().poller().source_count() == idle_origins());
  }
  void stop() {
    on.join();
    if (state) state->origins.close_all();
  }

  net::test::OnWorker on;
  cache::RamCache cache{1 << 20};
  FlightTable flights;
  HookTable hooks;
  TransactionSettings settings;
  std::optional<WorkerState> state;

 private:
  net::Detached serve(std::unique_ptr<net::Stream> stream) {
    {
      http1::Session session(std::move(stream), *handler_, state->session_settings, state->blocks, state->connections.next());
      co_await session.run();
    }
    ++ended_;
  }

  Origin& origin_;
  std::atomic<std::uint64_t> connection_ids_{0};
  std::atomic<std::uint64_t> transaction_ids_{0};
  std::optional<TransactionHandler> handler_;
  net::Stream* stream_ = nullptr;
  std::size_t ended_ = 0;  // on the worker
};

inline std::string get(std::string_view target, std::string_view fields = "") {
  return fmt::format("GET {} HTTP/1.1\r\nHost: a\r\n{}\r\n", target, fields);
}
inline std::string answer(std::string_view content, std::string_view fields = "") {
  return fmt::format("HTTP/1.1 200 OK\r\n{}{}Content-Length: {}\r\n\r\n{}", kDate, fields, content.size(), content);
}
// A response as the proxy relays it: read to its end.
inline std::string read_answer(Peer& client, std::string_view content) {
  std::string head = client.read_head();
  return head + client.read(content.size());
}
inline bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace telltale::txn::test
