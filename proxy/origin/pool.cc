// SPDX-License-Identifier: Apache-2.0
#include "origin/pool.h"

#include <atomic>

#include <telltale/diag/dbg.h>

#include "net/connect.h"
#include "net/resolver.h"

namespace telltale::origin {
namespace {

constexpr DbgCtl origin_dbg{"origin"};

// Of all workers, so that an id names one connection. Relaxed: it orders nothing.
std::atomic<std::uint64_t> last_id{0};

}  // namespace

ConnectionPtr Pool::take_idle(const Authority& origin) {
  auto at = idle_.find(origin);
  if (at == idle_.end()) return nullptr;
  ConnectionPtr found;
  while (!found && !at->second.empty()) {
    ConnectionPtr newest = std::move(at->second.front());
    at->second.pop_front();
    --count_;
    if (newest->usable()) {
      found = std::move(newest);
    } else {
      Dbg(origin_dbg, "idle connection o{} to {}:{} was closed by the origin", newest->id, origin.host, origin.port);
    }
  }
  if (at->second.empty()) idle_.erase(at);
  if (found) {
    Dbg(origin_dbg, "connection o{} to {}:{} reused, exchange {} on it", found->id, origin.host, origin.port,
        found->exchanges + 1);
  }
  return found;
}

net::Task<tl::expected<ConnectionPtr, Unreachable>> Pool::connect(Authority origin) {
  net::SteadyTime begun = worker_.now(), deadline = begun + settings_.connect_max;
  auto endpoints = co_await net::resolve(worker_, origin.host, origin.port, deadline);
  if (!endpoints) {
    bool late = endpoints.error().kind == net::ResolveFailure::kTimeout;
    Dbg(origin_dbg, "no address for {}: {}", origin.host, endpoints.error().text);
    co_return tl::unexpected(
        Unreachable{late ? http::Failure::kDnsTimeout : http::Failure::kDnsError, endpoints.error().text});
  }
  Unreachable last{http::Failure::kDestinationIpUnroutable, "no address"};
  for (const net::Endpoint& endpoint : *endpoints) {
    auto stream = co_await net::connect(worker_, endpoint, deadline);
    if (stream) {
      auto made = std::make_unique<Connection>(std::move(*stream), blocks_,
                                               last_id.fetch_add(1, std::memory_order_relaxed) + 1);
      Dbg(origin_dbg, "connection o{} to {} opened", made->id, endpoint);
      co_return made;
    }
    switch (stream.error().kind) {
      case net::ConnectFailure::kRefused: last.failure = http::Failure::kConnectionRefused; break;
      case net::ConnectFailure::kTimeout: last.failure = http::Failure::kConnectionTimeout; break;
      case net::ConnectFailure::kUnreachable: last.failure = http::Failure::kDestinationIpUnroutable; break;
      default: last.failure = http::Failure::kDestinationUnavailable; break;
    }
    last.detail = stream.error().text();
    Dbg(origin_dbg, "connecting to {} failed: {}", endpoint, last.detail);
  }
  co_return tl::unexpected(last);
}

void Pool::give_back(const Authority& origin, ConnectionPtr connection) {
  if (settings_.idle_max == 0) return;
  while (count_ >= settings_.idle_max) drop_oldest();
  connection->input.unpin();
  connection->input.release();
  connection->idle_since = worker_.now();
  connection->stream->clear_deadline();
  Dbg(origin_dbg, "connection o{} to {}:{} kept for reuse", connection->id, origin.host, origin.port);
  idle_[origin].push_front(std::move(connection));
  ++count_;
}

void Pool::expire() {
  net::SteadyTime limit = worker_.now() - settings_.idle_time_max;
  for (auto at = idle_.begin(); at != idle_.end();) {
    Idle& idle = at->second;
    count_ -= idle.remove_if([&](const ConnectionPtr& connection) {
      const bool ended = connection->stream->peer_gone();
      if (!ended && connection->idle_since > limit) return false;
      Dbg(origin_dbg, "idle connection o{} to {}:{} closed: {}", connection->id, at->first.host, at->first.port,
          ended ? "the origin ended it" : "it was idle for too long");
      return true;
    });
    at = idle.empty() ? idle_.erase(at) : std::next(at);
  }
}

void Pool::drop_oldest() {
  auto oldest = idle_.end();
  for (auto at = idle_.begin(); at != idle_.end(); ++at) {
    if (oldest == idle_.end() || at->second.back()->idle_since < oldest->second.back()->idle_since) oldest = at;
  }
  if (oldest == idle_.end()) return;
  Dbg(origin_dbg, "idle connection o{} to {}:{} closed: more are idle than may be kept", oldest->second.back()->id,
      oldest->first.host, oldest->first.port);
  oldest->second.pop_back();
  --count_;
  if (oldest->second.empty()) idle_.erase(oldest);
}

}  // namespace telltale::origin
