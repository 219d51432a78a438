// SPDX-License-Identifier: Apache-2.0
#include "http2/session.h"

#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/unit/http2/frames.h"
#include "tests/unit/http2/new_count.h"
#include "tests/unit/net/on_worker.h"

namespace telltale::http2 {
namespace {

using http::Content;
using http::Exchange;
using http::Framing;
using std::chrono::milliseconds;
using std::chrono::seconds;
using telltale::test::Peer;
using telltale::test::wait_until;
using test::Client;
using test::Frame;

using Serve = std::function<net::Task<void>(Exchange&)>;

class FakeHandler final : public http::Handler {
 public:
  net::Task<void> serve(Exchange& exchange) override { return function(exchange); }
  Serve function;
};

// Sessions on a worker whose clock the test moves.
class Served {
 public:
  explicit Served(Serve serve) { handler_.function = std::move(serve); }
  ~Served() { on.join(); }

  Peer connect(int type = SOCK_STREAM) {
    std::array<int, 2> fds;
    REQUIRE(::socketpair(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds.data()) == 0);
    on.call([&] { run(std::make_unique<net::Stream>(on.worker(), net::UniqueFd(fds[0]), net::Endpoint{})); });
    return Peer(net::UniqueFd(fds[1]));
  }
  std::size_t ended() {
    return on.call([this] { return ended_; });
  }
  // Every session has ended and left nothing behind.
  void all_ended(std::size_t sessions) {
    wait_until("sessions end", [&] { return ended() == sessions; });
    CHECK(on.call([] { return net::Detached::live(); }) == 0);
    CHECK(on.worker().poller().source_count() == 0);
  }

  SessionSettings settings;  // change before connect()

 private:
  net::Detached run(std::unique_ptr<net::Stream> stream) {
    {
      Session session(std::move(stream), handler_, settings, part_, 7);
      co_await session.run({});
    }
    ++ended_;
  }

  FakeHandler handler_;
  WorkerPart part_;
  std::size_t ended_ = 0;  // on the worker

 public:
  net::test::OnWorker on;
};

http::ResponseHead head_of(Framing framing, std::uint16_t status = 200) {
  http::ResponseHead head;
  head.status = status;
  head.framing = framing;
  return head;
}

net::Task<void> answer(Exchange& exchange, std::string_view content) {
  co_await exchange.send_head(head_of({Framing::kLength, content.size()}));
  co_await exchange.send_content(content);
  co_await exchange.finish();
}

// Answers with the content that came.
net::Task<void> echo(Exchange& exchange) {
  std::string text;
  for (;;) {
    const Content piece = co_await exchange.read_content();
    if (piece.state != Content::kData) break;
    text += piece.data;
  }
  co_await answer(exchange, text);
}

TEST_CASE("Session: what was received may be cut at any byte", "[http2][session]") {
  Served served(echo);
  const std::string all = std::string(http::kHttp2Preface) + test::frame(NGHTTP2_SETTINGS) +
                          test::request(1, false, "POST") + test::data(1, "abc") + test::data(1, "def", true);
  for (std::size_t cut = 1; cut < all.size(); ++cut) {
    Peer peer = served.connect();
    peer.send(all.substr(0, cut));
    served.on.settle();
    peer.send(all.substr(cut));
    std::string came;
    while (came.find("abcdef") == std::string::npos) came += peer.read(1);
  }
  served.all_ended(all.size() - 1);
}

TEST_CASE("Session: everything that the streams of one read have to send goes out in one write", "[http2][session]") {
  Served served([](Exchange& exchange) { return answer(exchange, "0123456789"); });
  Peer peer = served.connect(SOCK_SEQPACKET);  // each write is one packet here
  std::string all = std::string(http::kHttp2Preface) + test::frame(NGHTTP2_SETTINGS);
  for (std::uint32_t stream = 1; stream < 20; stream += 2) all += test::request(stream);
  peer.send(all);
  std::array<char, 65536> packet;
  ssize_t got = -1;
  const auto receive = [&] { return (got = ::recv(peer.fd(), packet.data(), packet.size(), 0)) > 0; };
  wait_until("the SETTINGS", receive);  // before anything was received
  wait_until("the answers", receive);
  const std::string_view text(packet.data(), static_cast<std::size_t>(got));
  std::size_t answers = 0;
  for (std::size_t at = 0; (at = text.find("0123456789", at)) != std::string_view::npos; ++at) ++answers;
  CHECK(answers == 10);
  served.on.settle();
  CHECK(peer.silent());
}

TEST_CASE("Session: a stored response is answered without an allocation of ours", "[http2][session][alloc]") {
  const std::string content(1024, 'x');
  http::Fields fields;
  fields.add_copy("cache-control", "max-age=60");
  fields.add_copy("content-type", "text/plain");
  std::vector<std::size_t> counts;
  counts.reserve(100);
  Served served([&](Exchange& exchange) -> net::Task<void> {
    counts.push_back(test::new_count());
    const http::PreparedResponse response{200, fields, {}, content, seconds{7}};
    co_await exchange.send_prepared(response);
  });
  {
    Client client(served.connect());
    client.send(test::window_update(0, 1 << 20));
    for (std::uint32_t stream = 1; stream < 200; stream += 2) {
      client.send(test::request(stream));
      while (!client.read(NGHTTP2_DATA).ends_stream()) {
      }
    }
  }
  served.all_ended(1);
  REQUIRE(counts.size() == 100);
  CHECK(counts[99] - counts[50] == 0);
}

TEST_CASE("Session: a stream takes as much content as its window, and a byte more is FLOW_CONTROL_ERROR",
          "[http2][session][limit]") {
  for (std::uint32_t window : {1024U, 65535U, 100'000U}) {
    for (std::uint32_t over : {0U, 1U}) {
      CAPTURE(window, over);
      Content::State state = Content::kData;
      net::Gate* gate = nullptr;
      Served served([&](Exchange& exchange) -> net::Task<void> {
        net::Gate own(served.on.worker());
        gate = &own;
        (void)co_await own.wait();
        Content piece = co_await exchange.read_content();
        state = piece.state;
      });
      served.settings.stream_window_bytes = window;
      Client client(served.connect());
      client.ping();
      client.send(test::frame(NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK) + test::request(1, false, "POST"));
      for (std::uint32_t left = window + over; left != 0;) {
        const std::uint32_t size = std::min(left, 16384U);
        client.send(test::data(1, std::string(size, 'x')));
        left -= size;
      }
      if (over == 0) {
        client.ping();
      } else {
        CHECK(client.read(NGHTTP2_RST_STREAM).error() == NGHTTP2_FLOW_CONTROL_ERROR);
      }
      served.on.call_and_settle([&] { gate->open(); });
      CHECK(served.on.call([&] { return state; }) == Content::kData);
    }
  }
}

TEST_CASE("Session: all streams together take as much content as the connection's window", "[http2][session][limit]") {
  for (std::uint32_t over : {0U, 1U}) {
    std::vector<net::Gate*> gates;
    Served served([&](Exchange&) -> net::Task<void> {
      net::Gate own(served.on.worker());
      gates.push_back(&own);
      (void)co_await own.wait();
    });
    served.settings.connection_window_bytes = 70'000;
    Client client(served.connect());
    client.ping();
    client.send(test::request(1, false, "POST") + test::request(3, false, "POST"));
    for (int i = 0; i < 3; ++i) client.send(test::data(1, std::string(16384, 'x')));
    client.send(test::data(3, std::string(16384, 'x')) + test::data(3, std::string(70'000 - 4 * 16384 + over, 'x')));
    if (over == 0) {
      client.ping();
    } else {
      CHECK(client.read(NGHTTP2_GOAWAY).error() == NGHTTP2_FLOW_CONTROL_ERROR);
    }
    served.on.call_and_settle([&] {
      for (net::Gate* gate : gates) gate->open();
    });
  }
}

TEST_CASE("Session: content that nobody reads does not close the connection's window", "[http2][session]") {
  Served served([](Exchange& exchange) { return answer(exchange, "no"); });
  served.settings.connection_window_bytes = 65535;
  Client client(served.connect());
  for (std::uint32_t stream = 1; stream < 101; stream += 2) {
    client.send(test::request(stream, false, "POST") + test::data(stream, std::string(10'000, 'x')));
    CHECK(client.read(NGHTTP2_RST_STREAM).error() == NGHTTP2_NO_ERROR);
  }
  CHECK(served.ended() == 0);
}

TEST_CASE("Session: streams that were reset count until their coroutines have ended", "[http2][session][limit]") {
  std::vector<net::Gate*> gates;
  Served served([&](Exchange& exchange) -> net::Task<void> {
    net::Gate own(served.on.worker());
    gates.push_back(&own);
    (void)co_await own.wait();
    co_await answer(exchange, "ok");
  });
  served.settings.streams_max = 3;
  Client client(served.connect());
  client.ping();
  client.send(test::request(1) + test::request(3) + test::request(5));
  client.ping();
  client.send(test::reset(1) + test::reset(3) + test::reset(5) + test::request(7));
  const Frame refused = client.read(NGHTTP2_RST_STREAM);
  CHECK(refused.stream == 7);
  CHECK(refused.error() == NGHTTP2_REFUSED_STREAM);
  CHECK(served.on.call([&] { return gates.size(); }) == 3);
  served.on.call_and_settle([&] {
    for (net::Gate* gate : gates) gate->open();
    gates.clear();
  });
  client.send(test::request(9));
  client.ping();
  served.on.call_and_settle([&] {
    REQUIRE(gates.size() == 1);
    gates[0]->open();
  });
  CHECK(client.read(NGHTTP2_DATA).payload == "ok");
}

TEST_CASE("Session: a request that is reset in the read that brings it is not served", "[http2][session]") {
  std::size_t count = 0;
  Served served([&](Exchange& exchange) {
    ++count;
    return answer(exchange, "ok");
  });
  Client client(served.connect());
  client.ping();
  client.send(test::request(1) + test::reset(1) + test::request(3));
  CHECK(client.read(NGHTTP2_DATA).stream == 3);
  CHECK(served.on.call([&] { return count; }) == 1);
}

TEST_CASE("Session: a client that opens no window is given up when its time is over, not before",
          "[http2][session][time]") {
  bool sent = true;
  Served served([&](Exchange& exchange) -> net::Task<void> {
    co_await exchange.send_head(head_of({Framing::kLength, 5}));
    sent = co_await exchange.send_content("abcde");
  });
  Client client(served.connect(), test::initial_window(2));
  client.send(test::request(1));
  CHECK(client.read(NGHTTP2_DATA).payload == "ab");
  served.on.advance(seconds{29});
  client.send(test::window_update(1, 1));
  CHECK(client.read(NGHTTP2_DATA).payload == "c");  // a byte that moves begins the time anew
  served.on.advance(milliseconds{29'999});
  client.ping();
  served.on.advance(milliseconds{1});
  CHECK(client.read(NGHTTP2_RST_STREAM).error() == NGHTTP2_CANCEL);
  CHECK_FALSE(served.on.call([&] { return sent; }));
  CHECK(served.ended() == 0);
}

TEST_CASE("Session: content that does not come ends the wait for it when its time is over", "[http2][session][time]") {
  std::vector<Content::State> states;
  Served served([&](Exchange& exchange) -> net::Task<void> {
    for (;;) {
      Content piece = co_await exchange.read_content();
      states.push_back(piece.state);
      if (piece.state != Content::kData) break;
    }
    exchange.abort();
  });
  Client client(served.connect());
  client.send(test::request(1, false, "POST"));
  client.ping();
  served.on.advance(seconds{29});
  client.send(test::data(1, "x"));
  client.ping();
  served.on.advance(milliseconds{29'999});
  CHECK(served.on.call([&] { return states; }) == std::vector{Content::kData});
  served.on.advance(milliseconds{1});
  CHECK(client.read(NGHTTP2_RST_STREAM).error() == NGHTTP2_INTERNAL_ERROR);
  CHECK(served.on.call([&] { return states; }) == std::vector{Content::kData, Content::kTimeout});
}

TEST_CASE("Session: an idle connection ends with GOAWAY when its time is over; PINGs do not prolong it",
          "[http2][session][time]") {
  Served served(echo);
  Client client(served.connect());
  served.on.advance(seconds{60});
  client.send(test::request(1));
  client.ping();
  served.on.advance(milliseconds{119'999});
  client.ping();
  CHECK(served.ended() == 0);
  served.on.advance(milliseconds{1});
  CHECK(client.read(NGHTTP2_GOAWAY).error() == NGHTTP2_NO_ERROR);
  client.peer().close();
  served.all_ended(1);
}

TEST_CASE("Session: a field block has its time from its first byte to its last", "[http2][session][time]") {
  for (bool late : {false, true}) {
    Served served(echo);
    Client client(served.connect());
    client.ping();
    const std::string block = test::block(test::fields());
    client.send(test::frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_STREAM, 1, block.substr(0, 20)));
    served.on.settle();
    served.on.advance(milliseconds{29'000});
    client.send(test::frame(NGHTTP2_CONTINUATION, 0, 1, block.substr(20, 1)));
    served.on.settle();
    served.on.advance(milliseconds{late ? 1000 : 999});
    if (late) {
      CHECK(client.read(NGHTTP2_GOAWAY).error() == NGHTTP2_ENHANCE_YOUR_CALM);
      client.peer().close();
      served.all_ended(1);
    } else {
      client.send(test::frame(NGHTTP2_CONTINUATION, NGHTTP2_FLAG_END_HEADERS, 1, block.substr(21)));
      CHECK(client.read(NGHTTP2_HEADERS).stream == 1);
      served.on.advance(seconds{60});
      client.ping();
    }
  }
}

TEST_CASE("Session: a client that takes nothing from the socket is given up when its time is over",
          "[http2][session][time]") {
  bool sent = true;
  const std::string much(8 << 20, 'x');
  Served served([&](Exchange& exchange) -> net::Task<void> {
    co_await exchange.send_head(head_of({Framing::kLength, much.size()}));
    sent = co_await exchange.send_content(much);
  });
  Client client(served.connect(), test::initial_window(1 << 30));
  client.send(test::window_update(0, 1 << 30) + test::request(1));
  served.on.settle();
  wait_until("the socket is full", [&] { return !client.peer().silent(); });
  for (int i = 0; i < 20; ++i) served.on.settle();
  served.on.advance(milliseconds{29'999});
  CHECK(served.ended() == 0);
  served.on.advance(milliseconds{1});
  served.all_ended(1);
  CHECK_FALSE(sent);
}

TEST_CASE("Session: a watcher is told once that the client reset the stream or went away", "[http2][session]") {
  struct Watcher final : http::ClientWatcher {
    void client_gone() noexcept override { ++told; }
    int told = 0;
  };
  for (bool reset : {true, false}) {
    Watcher watcher, late;
    net::Gate* gate = nullptr;
    Served served([&](Exchange& exchange) -> net::Task<void> {
      exchange.watch_client(&watcher);
      net::Gate own(served.on.worker());
      gate = &own;
      (void)co_await own.wait();
      exchange.watch_client(&late);  // who asks afterwards is told at once
    });
    Client client(served.connect());
    client.send(test::request(1));
    client.ping();
    if (reset) {
      client.send(test::reset(1));
      client.ping();
    } else {
      client.peer().close();
      wait_until("the end is seen", [&] { return served.on.call([&] { return watcher.told; }) != 0; });
    }
    CHECK(served.on.call([&] { return watcher.told; }) == 1);
    served.on.call_and_settle([&] { gate->open(); });
    CHECK(served.on.call([&] { return late.told; }) == 1);
    if (reset) client.peer().close();
    served.all_ended(1);
  }
}

TEST_CASE("Session: an exchange that ends without a response, or is aborted, is reset with INTERNAL_ERROR",
          "[http2][session]") {
  for (bool abort : {true, false}) {
    Served served([&](Exchange& exchange) -> net::Task<void> {
      if (abort) {
        co_await exchange.send_head(head_of({Framing::kLength, 5}));
        co_await exchange.send_content("abc");
        exchange.abort();
      }
    });
    Client client(served.connect());
    client.send(test::request(1));
    const Frame got = client.read(NGHTTP2_RST_STREAM);
    CHECK(got.error() == NGHTTP2_INTERNAL_ERROR);
    client.ping();
  }
}

TEST_CASE("Session: stop_reading ends a read that waits, and reads after it", "[http2][session]") {
  std::vector<Content::State> states;
  Exchange* waiting = nullptr;
  Served served([&](Exchange& exchange) -> net::Task<void> {
    waiting = &exchange;
    for (int i = 0; i < 2; ++i) {
      Content piece = co_await exchange.read_content();
      states.push_back(piece.state);
    }
    co_await answer(exchange, "ok");
  });
  Client client(served.connect());
  client.send(test::request(1, false, "POST"));
  client.ping();
  served.on.call_and_settle([&] { waiting->stop_reading(); });
  CHECK(client.read(NGHTTP2_DATA).payload == "ok");
  CHECK(states == std::vector{Content::kBroken, Content::kBroken});
}

TEST_CASE("Session: a worker that stops lets open streams finish and takes no new ones", "[http2][session][stop]") {
  net::Gate* gate = nullptr;
  Served served([&](Exchange& exchange) -> net::Task<void> {
    net::Gate own(served.on.worker());
    gate = &own;
    (void)co_await own.wait();
    co_await answer(exchange, "ok");
  });
  Client client(served.connect());
  client.send(test::request(1));
  client.ping();
  served.on.worker().stop(seconds{60});
  const Frame goaway = client.read(NGHTTP2_GOAWAY);
  CHECK(goaway.error() == NGHTTP2_NO_ERROR);
  CHECK(goaway.number(0) == 1);
  client.send(test::request(3));
  served.on.call([&] { gate->open(); });
  CHECK(client.read(NGHTTP2_DATA).payload == "ok");
  CHECK(client.peer().read_to_end().empty());
  served.on.wait();
}

TEST_CASE("Session: a worker that stops at once ends every wait of a session and its streams",
          "[http2][session][stop]") {
  std::vector<bool> sent;
  Served served([&](Exchange& exchange) -> net::Task<void> {
    co_await exchange.send_head(head_of({Framing::kLength, 5}));
    bool all = co_await exchange.send_content("abcde");
    sent.push_back(all);
  });
  Client client(served.connect(), test::initial_window(0));
  Client idle(served.connect());
  idle.ping();
  client.send(test::request(1) + test::request(3));
  client.ping();
  served.on.worker().stop();
  served.on.wait();
  CHECK(sent == std::vector{false, false});
}

}  // namespace
}  // namespace telltale::http2
