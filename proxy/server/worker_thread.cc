// SPDX-License-Identifier: Apache-2.0
#include "server/worker_thread.h"

#include <future>

#include <telltale/diag/dbg.h>
#include <telltale/diag/level.h>
#include <telltale/diag/output.h>

#include "http1/session.h"
#include "http2/session.h"

namespace telltale::server {
namespace {

constexpr DbgCtl net_dbg{"net"};

}  // namespace

WorkerThread::WorkerThread(std::string name, Shared& shared, txn::RuntimePtr runtime, std::size_t head_bytes_max,
                           std::vector<net::UniqueFd> sockets)
    : worker_({.name = std::move(name)}),
      state_(worker_, shared.cache, shared.flights, shared.hooks, std::move(runtime), head_bytes_max, shared.connection_ids,
             shared.transaction_ids),
      handler_(state_) {
  state_.follow = &shared.follow;
  for (net::UniqueFd& socket : sockets) {
    listeners_.push_back(std::make_unique<net::Listener>(
        worker_, std::move(socket), [this](net::UniqueFd fd, const net::Endpoint& peer) { accept(std::move(fd), peer); }));
  }
}

WorkerThread::~WorkerThread() = default;

void WorkerThread::start() {
  thread_ = std::thread([this] {
    diag::set_thread_name(worker_.name());
    for (auto& listener : listeners_) listener->start();
    keep_house();
    worker_.run();
    state_.origins.close_all();
  });
}

void WorkerThread::join() {
  if (thread_.joinable()) thread_.join();
}

bool WorkerThread::change(std::function<void(txn::WorkerState&)> change) {
  // Shared with the posted function, which a worker that ends destroys unrun: the future is then broken.
  auto done = std::make_shared<std::promise<void>>();
  std::future<void> future = done->get_future();
  worker_.post([this, change = std::move(change), done = std::move(done)] {
    change(state_);
    done->set_value();
  });
  try {
    future.get();
    return true;
  } catch (const std::future_error&) {
    return false;
  }
}

std::string WorkerThread::listeners() const {
  std::string text;
  for (const auto& listener : listeners_) text += fmt::format("{}{}", text.empty() ? "" : " ", listener->local());
  return text;
}

void WorkerThread::accept(net::UniqueFd socket, const net::Endpoint& peer) {
  txn::Counters& counters = state_.counters;
  if (counters.connections_open.value() >= state_.connections_max) {
    counters.connections_refused.add();
    Dbg(net_dbg, "connection from {} refused: this worker holds {} already", peer, state_.connections_max);
    if (!at_limit_) diag::warning("client connections are refused: this worker holds {}, the most it may", state_.connections_max);
    at_limit_ = true;
    return;  // closes it
  }
  at_limit_ = false;
  counters.connections_accepted.add();
  counters.connections_open.add();
  serve(std::make_unique<net::Stream>(worker_, std::move(socket), peer), state_.connections.next());
}

net::Detached WorkerThread::serve(std::unique_ptr<net::Stream> stream, std::uint64_t connection_id) {
  std::string received;
  {
    http1::Session session(std::move(stream), handler_, state_.session_settings, state_.blocks, connection_id);
    co_await session.run();
    if (session.speaks_http2()) {
      received = session.received();
      stream = session.take_stream();
    }
  }  // HTTP/2 needs nothing of it, least of all its block
  if (stream) co_await serve_http2(std::move(stream), connection_id, std::move(received));
  state_.counters.connections_open.sub();
}

// A task of its own, so that connections which speak HTTP/1.1 hold no memory for it.
net::Task<void> WorkerThread::serve_http2(std::unique_ptr<net::Stream> stream, std::uint64_t connection_id, std::string received) {
  http2::Session session(std::move(stream), handler_, state_.http2_settings, state_.http2, connection_id);
  co_await session.run(std::move(received));
}

// Once a second until the worker stops.
net::Detached WorkerThread::keep_house() {
  for (;;) {
    bool time_passed = co_await worker_.sleep_until(worker_.now() + std::chrono::seconds{1});
    if (!time_passed) co_return;
    state_.origins.expire();
  }
}

}  // namespace telltale::server
