// SPDX-License-Identifier: Apache-2.0
#include "origin/pool.h"

#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tests/unit/net/on_worker.h"

namespace telltale::origin {
namespace {

using std::chrono::seconds;

// A worker that does not run: the test turns its poller by hand, on one thread.
struct Bench {
  net::ManualClock clock;
  net::Worker worker{{.clock = &clock}};
  http1::BlockPool blocks{1024};
  PoolSettings settings;
  Pool pool{worker, blocks, settings};
  std::vector<net::UniqueFd> origin_ends;
  std::uint64_t next_id = 100;

  ConnectionPtr made() {
    net::test::SocketPair pair;
    origin_ends.push_back(std::move(pair.peer));
    return std::make_unique<Connection>(
        std::make_unique<net::Stream>(worker, std::move(pair.ours), net::Endpoint{}), blocks, next_id++);
  }
  // Keeps a new connection for reuse; returns its id.
  std::uint64_t keep(const Authority& origin) {
    ConnectionPtr connection = made();
    const std::uint64_t id = connection->id;
    pool.give_back(origin, std::move(connection));
    return id;
  }
  std::uint64_t take(const Authority& origin) {
    const ConnectionPtr connection = pool.take_idle(origin);
    return connection ? connection->id : 0;
  }
  void advance(seconds by) {
    clock.advance(by);
    worker.tick();
  }
};

const Authority kA{"a.example", 80}, kB{"b.example", 80}, kOtherPort{"a.example", 8080};

TEST_CASE("Pool: gives an idle connection to the same host and port only", "[origin][pool]") {
  Bench bench;
  const std::uint64_t id = bench.keep(kA);
  CHECK(bench.pool.idle_count() == 1);
  CHECK(bench.take(kB) == 0);
  CHECK(bench.take(kOtherPort) == 0);
  CHECK(bench.take(kA) == id);
  CHECK(bench.take(kA) == 0);
  CHECK(bench.pool.idle_count() == 0);
}

TEST_CASE("Pool: the newest connection is taken first", "[origin][pool]") {
  Bench bench;
  const std::uint64_t first = bench.keep(kA), second = bench.keep(kA), third = bench.keep(kA);
  CHECK(bench.take(kA) == third);
  CHECK(bench.take(kA) == second);
  CHECK(bench.take(kA) == first);
}

TEST_CASE("Pool: keeps as many as its limit says, and of one more lets the oldest of all go", "[origin][pool]") {
  Bench bench;
  bench.settings.idle_max = 3;
  const std::uint64_t oldest = bench.keep(kB);
  bench.advance(seconds{1});
  const std::uint64_t a1 = bench.keep(kA);
  bench.advance(seconds{1});
  const std::uint64_t a2 = bench.keep(kA);
  CHECK(bench.pool.idle_count() == 3);
  CHECK(bench.worker.poller().source_count() == 3);
  bench.advance(seconds{1});
  const std::uint64_t a3 = bench.keep(kA);
  CHECK(bench.pool.idle_count() == 3);
  CHECK(bench.worker.poller().source_count() == 3);
  CHECK(oldest != 0);
  CHECK(bench.take(kB) == 0);
  CHECK(bench.take(kA) == a3);
  CHECK(bench.take(kA) == a2);
  CHECK(bench.take(kA) == a1);
}

TEST_CASE("Pool: a lowered limit holds from the next connection on, and 0 keeps none", "[origin][pool]") {
  Bench bench;
  bench.keep(kA);
  bench.keep(kA);
  bench.keep(kB);
  bench.settings.idle_max = 1;
  const std::uint64_t last = bench.keep(kB);
  CHECK(bench.pool.idle_count() == 1);
  CHECK(bench.take(kB) == last);
  bench.settings.idle_max = 0;
  bench.keep(kA);
  CHECK(bench.pool.idle_count() == 0);
  CHECK(bench.worker.poller().source_count() == 0);
}

TEST_CASE("Pool: a connection that the origin closed or wrote to is not used again", "[origin][pool]") {
  Bench bench;
  const std::uint64_t good = bench.keep(kA);
  bench.keep(kA);
  bench.origin_ends[1].reset();
  bench.keep(kA);
  net::test::write_text(bench.origin_ends[2], "HTTP/1.1 408 Request Timeout\r\n\r\n");
  CHECK(bench.take(kA) == good);
  CHECK(bench.pool.idle_count() == 0);
  bench.keep(kA);
  bench.origin_ends[3].reset();
  CHECK(bench.take(kA) == 0);
  CHECK(bench.pool.idle_count() == 0);
}

TEST_CASE("Pool: what the origin closed is noticed by the loop, without a system call for it", "[origin][pool]") {
  Bench bench;
  ConnectionPtr connection = bench.made();
  net::test::write_text(bench.origin_ends[0], "x");
  [](net::Stream& stream) -> net::Detached { static_cast<void>(co_await stream.readable()); }(*connection->stream);
  while (bench.worker.poller().dispatch() != 0) {  // as after a response was read
    char byte;
    static_cast<void>(connection->stream->recv({&byte, 1}));
  }
  CHECK(connection->usable());
  bench.origin_ends[0].reset();
  while (bench.worker.poller().dispatch() != 0) {
  }
  CHECK(connection->stream->peer_gone());
  CHECK_FALSE(connection->usable());
}

TEST_CASE("Connection: bytes that were read and belong to no response make it unusable", "[origin][connection]") {
  Bench bench;
  ConnectionPtr connection = bench.made();
  CHECK(connection->usable());
  connection->input.room()[0] = 'x';
  connection->input.commit(1);
  CHECK_FALSE(connection->usable());
  connection->input.consume(1);
  CHECK(connection->usable());
}

TEST_CASE("Pool: an idle connection holds no block and no deadline", "[origin][pool]") {
  Bench bench;
  ConnectionPtr connection = bench.made();
  char* const block = connection->input.room().data();
  connection->input.commit(10);
  connection->input.pin(10);
  connection->stream->set_deadline(bench.clock.steady_now() + seconds{1});
  bench.pool.give_back(kA, std::move(connection));
  CHECK(bench.blocks.take().get() == block);
  bench.advance(seconds{2});
  CHECK(bench.take(kA) != 0);
}

TEST_CASE("Pool: expire closes what was idle as long as the limit, and not what was idle less", "[origin][pool]") {
  Bench bench;
  bench.settings.idle_time_max = seconds{60};
  bench.keep(kA);
  bench.keep(kB);
  bench.advance(seconds{1});
  const std::uint64_t young = bench.keep(kA);
  bench.advance(seconds{58});
  bench.pool.expire();
  CHECK(bench.pool.idle_count() == 3);
  bench.advance(seconds{1});
  bench.pool.expire();
  CHECK(bench.pool.idle_count() == 1);
  CHECK(bench.worker.poller().source_count() == 1);
  CHECK(bench.take(kB) == 0);
  CHECK(bench.take(kA) == young);
}

TEST_CASE("Pool: expire closes what its origin has ended, wherever it stands among the idle ones", "[origin][pool]") {
  Bench bench;
  const std::uint64_t oldest = bench.keep(kA);
  ConnectionPtr ended = bench.made();
  net::test::write_text(bench.origin_ends[1], "x");
  [](net::Stream& stream) -> net::Detached { static_cast<void>(co_await stream.readable()); }(*ended->stream);
  while (bench.worker.poller().dispatch() != 0) {  // from now on the loop watches it
    char byte;
    static_cast<void>(ended->stream->recv({&byte, 1}));
  }
  bench.pool.give_back(kA, std::move(ended));
  const std::uint64_t newest = bench.keep(kA);
  bench.origin_ends[1].reset();
  while (bench.worker.poller().dispatch() != 0) {
  }
  bench.pool.expire();
  CHECK(bench.pool.idle_count() == 2);
  CHECK(bench.take(kA) == newest);
  CHECK(bench.take(kA) == oldest);
}

TEST_CASE("Pool: a connection used in between counts its idle time anew", "[origin][pool]") {
  Bench bench;
  bench.settings.idle_time_max = seconds{60};
  bench.keep(kA);
  bench.advance(seconds{59});
  bench.pool.give_back(kA, bench.pool.take_idle(kA));
  bench.advance(seconds{59});
  bench.pool.expire();
  CHECK(bench.pool.idle_count() == 1);
}

TEST_CASE("Pool: close_all leaves no socket", "[origin][pool]") {
  Bench bench;
  bench.keep(kA);
  bench.keep(kB);
  bench.pool.close_all();
  CHECK(bench.pool.idle_count() == 0);
  CHECK(bench.worker.poller().source_count() == 0);
}

}  // namespace
}  // namespace telltale::origin
