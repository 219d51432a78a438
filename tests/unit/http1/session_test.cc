// SPDX-License-Identifier: Apache-2.0
#include "http1/session.h"

#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "net/listener.h"
#include "tests/unit/http1/peer.h"
#include "tests/unit/net/on_worker.h"

namespace telltale::http1 {
namespace {

using http::Content;
using http::Exchange;
using http::Framing;
using std::chrono::seconds;
using test::Peer;
using test::wait_until;

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

  Peer connect() {
    net::test::SocketPair pair;
    adopt(std::move(pair.ours));
    return Peer(std::move(pair.peer));
  }
  // TCP, where the end of a connection shows how it ended.
  Peer connect_tcp() {
    const auto sockets = net::listen_on(*net::Endpoint::parse("127.0.0.1:0"), 1);
    sockaddr_storage address;
    const socklen_t length = net::local_endpoint(sockets->front().get()).to_sockaddr(address);
    net::UniqueFd peer(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    REQUIRE(::connect(peer.get(), reinterpret_cast<sockaddr*>(&address), length) == 0);
    net::UniqueFd ours(::accept4(sockets->front().get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    REQUIRE(ours);
    adopt(std::move(ours));
    return Peer(std::move(peer));
  }

  // Of the last connection made. REQUIRES: it has not ended.
  std::uint64_t bytes_in() {
    return on.call([this] { return stream_->bytes_in(); });
  }
  std::uint64_t bytes_out() {
    return on.call([this] { return stream_->bytes_out(); });
  }
  void wait_for_input(std::uint64_t bytes) {
    wait_until("bytes arrive", [&] { return bytes_in() == bytes; });
    on.settle();
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

  // Starts a session on a connected socket.
  void adopt(net::UniqueFd socket) {
    on.call([&] {
      auto stream = std::make_unique<net::Stream>(on.worker(), std::move(socket), net::Endpoint{});
      stream_ = stream.get();
      run(std::move(stream));
    });
  }
  // On the worker.
  const net::Stream& stream() const { return *stream_; }

  SessionSettings settings;  // change before connect()

 private:
  net::Detached run(std::unique_ptr<net::Stream> stream) {
    {
      Session session(std::move(stream), handler_, settings, blocks_, 7);
      co_await session.run();
    }
    ++ended_;
  }

  FakeHandler handler_;
  BlockPool blocks_{SessionSettings{}.head.bytes_max};
  net::Stream* stream_ = nullptr;
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

// Answers with what came: method, target, content.
net::Task<void> echo(Exchange& exchange) {
  std::string text = fmt::format("{} {} ", exchange.request().method_text, exchange.request().target);
  for (;;) {
    const Content piece = co_await exchange.read_content();
    if (piece.state != Content::kData) break;
    text += piece.data;
  }
  co_await exchange.send_head(head_of({Framing::kLength, text.size()}));
  co_await exchange.send_content(text);
  co_await exchange.finish();
}

// Answers without reading content.
net::Task<void> deny(Exchange& exchange) {
  co_await exchange.send_head(head_of({Framing::kLength, 2}, 403));
  co_await exchange.send_content("no");
  co_await exchange.finish();
}

std::string ok(std::string_view content, std::string_view fields = "") {
  return fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n{}\r\n{}", content.size(), fields, content);
}
const std::string kDenied = "HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno";
const std::string kDeniedAndClosed = "HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno";

TEST_CASE("Session: a connection serves one request after another until the client ends it", "[http1][session]") {
  Served served(echo);
  const std::size_t descriptors = net::test::open_descriptors();
  Peer client = served.connect();
  for (int i = 0; i < 3; ++i) {
    client.send("GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK(client.read(ok("GET /a ").size()) == ok("GET /a "));
  }
  CHECK(served.ended() == 0);
  client.shutdown_write();
  CHECK(client.read_to_end().empty());
  served.all_ended(1);
  client.close();
  CHECK(net::test::open_descriptors() == descriptors);
}

TEST_CASE("Session: a request that comes byte by byte is served", "[http1][session]") {
  Served served(echo);
  Peer client = served.connect();
  std::size_t sent = 0;
  for (char byte : std::string("POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")) {
    client.send({&byte, 1});
    served.wait_for_input(++sent);
  }
  CHECK(client.read(ok("POST /a abc").size()) == ok("POST /a abc"));
}

TEST_CASE("Session: pipelined requests are answered in their order", "[http1][session]") {
  Served served(echo);
  Peer client = served.connect();
  std::string requests, answers;
  for (int i = 0; i < 100; ++i) {  // more than one turn takes
    requests += fmt::format("GET /{} HTTP/1.1\r\nHost: a\r\n\r\nPOST /{} HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc", i, i);
    answers += ok(fmt::format("GET /{} ", i)) + ok(fmt::format("POST /{} abc", i));
  }
  client.send(requests);
  CHECK(client.read(answers.size()) == answers);
}

TEST_CASE("Session: a pipelined request whose head ends where the block ends is read whole", "[http1][session]") {
  // The head fits into the block to its last byte; its content needs room all the same.
  const std::size_t block = SessionSettings{}.head.bytes_max + BlockPool::kContentRoom;
  const std::string first = "GET /first HTTP/1.1\r\nHost: a\r\nX: ";
  const std::string second = "POST /second HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n";
  std::string requests = first + std::string(10'000, 'x') + "\r\n\r\n";
  std::size_t gets = 1;
  for (; block - requests.size() - second.size() > 1000; ++gets) requests += "GET /more HTTP/1.1\r\nHost: a\r\n\r\n";
  std::string last = "GET /fill HTTP/1.1\r\nHost: a\r\nX: \r\n\r\n";
  last.insert(last.size() - 4, block - requests.size() - second.size() - last.size(), 'x');
  requests += last + second;
  REQUIRE(requests.size() == block);

  Served served(echo);
  net::test::SocketPair pair;  // all of it lies there before the session reads
  Peer client(std::move(pair.peer));
  client.send(requests + "abc");
  served.adopt(std::move(pair.ours));
  std::string answers = ok("GET /first ");
  for (std::size_t i = 1; i < gets; ++i) answers += ok("GET /more ");
  answers += ok("GET /fill ") + ok("POST /second abc");
  CHECK(client.read(answers.size()) == answers);
}

TEST_CASE("Session: a head that is larger than the block it began in is refused, whatever the limit is by now", "[http1][session]") {
  Served* at = nullptr;
  Served served([&](Exchange& exchange) -> net::Task<void> {
    at->settings.head.bytes_max = 1 << 20;  // raised while the next head is half there
    co_await deny(exchange);
  });
  at = &served;
  const std::string half = "GET / HTTP/1.1\r\nHost: a\r\nX: ";
  net::test::SocketPair pair;
  Peer client(std::move(pair.peer));
  client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n" + half);
  served.adopt(std::move(pair.ours));
  CHECK(client.read(kDenied.size()) == kDenied);
  client.send(std::string(SessionSettings{}.head.bytes_max + BlockPool::kContentRoom, 'x'));
  CHECK(client.read_head().starts_with("HTTP/1.1 431 "));
  client.close();
  served.all_ended(1);
}

TEST_CASE("Session: HTTP/1.0 ends after one answer, with keep-alive it goes on", "[http1][session]") {
  Served served(echo);
  Peer client = served.connect();
  client.send("GET /a HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n");
  const std::string kept = ok("GET /a ", "Connection: keep-alive\r\n");
  CHECK(client.read(kept.size()) == kept);
  client.send("GET /b HTTP/1.0\r\nHost: a\r\n\r\n");
  CHECK(client.read_to_end() == ok("GET /b ", "Connection: close\r\n"));
  served.all_ended(1);
}

TEST_CASE("Session: a client that asks for the end of the connection gets it", "[http1][session]") {
  Served served(echo);
  Peer client = served.connect();
  client.send("GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  CHECK(client.read_to_end() == ok("GET /a ", "Connection: close\r\n"));
}

TEST_CASE("Session: content of unknown length is chunked, for HTTP/1.0 it ends with the connection", "[http1][session]") {
  for (const Framing framing : {Framing{Framing::kChunked}, Framing{Framing::kUntilClose}}) {
    Served served([&](Exchange& exchange) -> net::Task<void> {
      co_await exchange.send_head(head_of(framing));
      co_await exchange.send_content("hello ");
      co_await exchange.send_content("");  // would end the chunks
      co_await exchange.send_content("a world of sixteen");
      co_await exchange.finish();
    });
    Peer client = served.connect();
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK(client.read_to("\r\n0\r\n\r\n") ==
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nhello \r\n12\r\na world of sixteen\r\n0\r\n\r\n");
    client.send("GET / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n");
    CHECK(client.read_to_end() == "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello a world of sixteen");
    served.all_ended(1);
  }
}

TEST_CASE("Session: the answer to HEAD has the fields and no content", "[http1][session]") {
  Served served([](Exchange& exchange) -> net::Task<void> {
    co_await exchange.send_head(head_of({Framing::kLength, 5}));
    const bool sent = co_await exchange.send_content("hello");
    CHECK(sent);
    co_await exchange.finish();
    CHECK(exchange.content_bytes_sent() == (exchange.request().method == http::Method::kHead ? 0 : 5));
  });
  Peer client = served.connect();
  client.send("HEAD / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  CHECK(client.read_to_end() == "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n" + ok("hello", "Connection: close\r\n"));
}

TEST_CASE("Session: answers without content have no framing", "[http1][session]") {
  Served served([](Exchange& exchange) -> net::Task<void> {
    co_await exchange.send_head(head_of({}, exchange.request().target == "/204" ? 204 : 304));
    co_await exchange.finish();
  });
  Peer client = served.connect();
  client.send("GET /204 HTTP/1.1\r\nHost: a\r\n\r\nGET /304 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  CHECK(client.read_to_end() == "HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 304 Not Modified\r\nConnection: close\r\n\r\n");
}

TEST_CASE("Session: a head waits for content, flush sends it", "[http1][session]") {
  std::vector<std::uint64_t> out;
  Served* at = nullptr;
  Served served([&](Exchange& exchange) -> net::Task<void> {
    co_await exchange.send_head(head_of({Framing::kLength, 2}));
    CHECK(exchange.head_sent());
    out.push_back(at->stream().bytes_out());
    co_await exchange.flush();
    out.push_back(at->stream().bytes_out());
    co_await exchange.send_content("ok");
    co_await exchange.finish();
  });
  at = &served;
  Peer client = served.connect();
  client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  CHECK(client.read(ok("ok").size()) == ok("ok"));
  CHECK(out == std::vector<std::uint64_t>{0, ok("ok").size() - 2});
}

net::Task<void> prepared(Exchange& exchange) {
  static const http::Fields fields;
  static const std::string content(5'000'000, 'p');
  static const std::string head = fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n", content.size());
  co_await exchange.send_prepared({200, fields, head, content, seconds{1234567890}});
}

TEST_CASE("Session: a stored response is sent as it is, with Age and whatever the connection needs", "[http1][session]") {
  Served served(prepared);
  Peer client = served.connect();
  const std::string head = "HTTP/1.1 200 OK\r\nContent-Length: 5000000\r\nAge: 1234567890\r\n";
  client.send("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n");
  CHECK(client.read_head() == head + "\r\n");
  client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  CHECK(client.read_head() == head + "\r\n");
  CHECK((client.read(5'000'000) == std::string(5'000'000, 'p')));  // more than a socket takes at once
  client.send("HEAD / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n");
  CHECK(client.read_head() == head + "Connection: keep-alive\r\n\r\n");
  client.send("GET / HTTP/1.0\r\nHost: a\r\n\r\n");
  CHECK(client.read_head() == head + "Connection: close\r\n\r\n");
  CHECK(client.read_to_end().size() == 5'000'000);
  served.all_ended(1);
}

TEST_CASE("Session: a client that expects 100 gets it when its content is first read", "[http1][session]") {
  Served served(echo);
  Peer client = served.connect();
  const std::string head = "POST /a HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 6\r\n\r\n";
  client.send(head);
  CHECK(client.read_head() == "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("abc");
  served.wait_for_input(head.size() + 3);
  client.send("def");
  CHECK(client.read(ok("POST /a abcdef").size()) == ok("POST /a abcdef"));  // one 100 only

  client.send(head + "abcdef");
  CHECK(client.read(ok("POST /a abcdef").size()) == ok("POST /a abcdef"));  // none: its content is there already

  std::string old = head;
  old.replace(old.find("1.1"), 3, "1.0");
  client.send(old);
  served.wait_for_input(3 * head.size() + 12);
  client.send("abcdef");
  CHECK(client.read_to_end() == ok("POST /a abcdef", "Connection: close\r\n"));  // HTTP/1.0 does not know it
}

TEST_CASE("Session: a client that expects 100 and is denied is not waited for", "[http1][session]") {
  Served served(deny);
  Peer client = served.connect();
  client.send("POST /a HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 6\r\n\r\n");
  CHECK(client.read(kDeniedAndClosed.size()) == kDeniedAndClosed);  // its content may come or not
  CHECK(client.read_to_end().empty());
  client.close();
  served.all_ended(1);
}

TEST_CASE("Session: interim responses go out before the final one, not to HTTP/1.0", "[http1][session]") {
  Served served([](Exchange& exchange) -> net::Task<void> {
    http::Fields fields;
    fields.add_copy("Link", "</a.css>");
    co_await exchange.send_interim(103, fields);
    CHECK_FALSE(exchange.head_sent());
    co_await deny(exchange);
  });
  Peer client = served.connect();
  client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  CHECK(client.read_head() == "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n");
  CHECK(client.read(kDenied.size()) == kDenied);
  client.send("GET / HTTP/1.0\r\nHost: a\r\n\r\n");
  CHECK(client.read_to_end() == kDeniedAndClosed);
}

TEST_CASE("Session: content that nobody read is not taken for a request", "[http1][session]") {
  // Case B114.
  Served served([](Exchange& exchange) -> net::Task<void> {
    if (exchange.request().target == "/denied") {
      co_await deny(exchange);
    } else {
      co_await echo(exchange);
    }
  });
  Peer client = served.connect();
  client.send("POST /denied HTTP/1.1\r\nHost: a\r\nContent-Length: 34\r\n\r\nGET /phantom HTTP/1.1\r\nHost: a\r\n\r\n"
              "GET /ok HTTP/1.1\r\nHost: a\r\n\r\n");
  CHECK(client.read(kDenied.size()) == kDenied);
  CHECK(client.read(ok("GET /ok ").size()) == ok("GET /ok "));
}

TEST_CASE("Session: unread content is drained up to a limit, beyond it the connection ends", "[http1][session]") {
  Served served(deny);
  served.settings.drain_bytes_max = 1000;
  Peer client = served.connect();
  SECTION("at the limit") {
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n" + std::string(1000, 'x') +
                "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK(client.read(2 * kDenied.size()) == kDenied + kDenied);
    CHECK(served.ended() == 0);
  }
  SECTION("at the limit + 1") {
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\n" + std::string(1001, 'x') +
                "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK(client.read_to_end() == kDenied);
    client.close();
    served.all_ended(1);
  }
}

TEST_CASE("Session: content that the handler has read does not count as unread", "[http1][session]") {
  Served served([](Exchange& exchange) -> net::Task<void> {
    std::size_t read = 0;
    while (read < 2000) {
      const Content piece = co_await exchange.read_content();
      read += piece.data.size();
    }
    co_await deny(exchange);
  });
  served.settings.drain_bytes_max = 1000;
  Peer client = served.connect();
  client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2500\r\n\r\n" + std::string(2000, 'x'));
  CHECK(client.read(kDenied.size()) == kDenied);
  client.send(std::string(500, 'x') + "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2000\r\n\r\n" + std::string(2000, 'x'));
  CHECK(client.read(kDenied.size()) == kDenied);
}

TEST_CASE("Session: a client that goes on sending still reads the answer before the connection ends", "[http1][session]") {
  Served served(deny);
  served.settings.drain_bytes_max = 1000;
  Peer client = served.connect_tcp();
  client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n" + std::string(200'000, 'x'));
  CHECK(client.read_to_end() == kDenied);
  client.close();
  served.all_ended(1);
}

TEST_CASE("Session: a client that does not stop sending is cut off in the end", "[http1][session]") {
  Served served(deny);
  served.settings.drain_bytes_max = 1000;
  Peer client = served.connect();
  client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000000\r\n\r\n");
  CHECK(client.read(kDenied.size()) == kDenied);
  SECTION("by bytes") {
    const std::string piece(65536, 'x');
    CHECK_THROWS([&] {
      for (int i = 0; i < 1000; ++i) client.send(piece);
    }());
  }
  SECTION("by time") {
    client.send(std::string(1001, 'x'));
    CHECK(client.read_to_end().empty());  // our side has ended its data
    CHECK(served.ended() == 0);
    served.on.advance(seconds{2});
  }
  served.all_ended(1);
}

TEST_CASE("Session: an aborted response ends in a reset, not in an end that passes for whole", "[http1][session]") {
  Served served([](Exchange& exchange) -> net::Task<void> {
    co_await exchange.send_head(head_of({Framing::kUntilClose}));
    co_await exchange.send_content("half of");
    exchange.abort();
  });
  for (const char* version : {"1.0", "1.1"}) {
    Peer client = served.connect_tcp();
    client.send(fmt::format("GET / HTTP/{}\r\nHost: a\r\n\r\n", version));
    CHECK(client.ends_by_reset());
  }
  served.all_ended(2);
}

TEST_CASE("Session: a client that takes nothing for too long is cut off", "[http1][session]") {
  Served served(prepared);
  Peer client = served.connect();
  client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  wait_until("the socket is full", [&, last = std::uint64_t{0}]() mutable {
    return std::exchange(last, served.bytes_out()) == last && last != 0;
  });
  served.on.advance(seconds{29});
  CHECK(served.ended() == 0);
  served.on.advance(seconds{1});
  served.all_ended(1);
  CHECK(client.read_to_end().size() < 5'000'000);
}

TEST_CASE("Session: a client that takes a large answer slowly but steadily gets all of it", "[http1][session]") {
  Served served(prepared);
  Peer client = served.connect();
  client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  const std::size_t head = client.read_head().size();
  std::uint64_t read = head;
  for (int i = 0; i < 5; ++i) {
    const std::uint64_t before = served.bytes_out();
    while (served.bytes_out() == before) {
      client.read(65536);
      read += 65536;
    }
    served.on.settle();
    served.on.advance(seconds{29});
  }
  CHECK(served.ended() == 0);
  CHECK(client.read(head + 5'000'000 - read).size() == head + 5'000'000 - read);
}

TEST_CASE("Session: a handler learns that the client is gone, and the session ends", "[http1][session]") {
  std::vector<bool> sent;
  Served served([&](Exchange& exchange) -> net::Task<void> {
    const Content piece = co_await exchange.read_content();
    CHECK(piece.state == Content::kBroken);
    co_await exchange.send_head(head_of({Framing::kChunked}));
    for (int i = 0; i < 3; ++i) {
      const bool taken = co_await exchange.send_content(std::string(100, 'x'));
      sent.push_back(taken);
    }
    const bool finished = co_await exchange.finish();
    sent.push_back(finished);
  });
  Peer client = served.connect();
  client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n");
  client.close();
  served.all_ended(1);
  CHECK(sent == std::vector<bool>{false, false, false, false});
}

TEST_CASE("Session: stop_reading ends a pending read as broken, and the connection after the answer", "[http1][session]") {
  Content::State ended = Content::kEnd, again = Content::kEnd;
  Served* at = nullptr;
  Served served([&](Exchange& exchange) -> net::Task<void> {
    net::Gate over(at->on.worker());
    [](Exchange& e, Content::State& first, Content::State& second, net::Gate& done) -> net::Detached {
      Content piece = co_await e.read_content();
      first = piece.state;
      piece = co_await e.read_content();
      second = piece.state;
      done.open();
    }(exchange, ended, again, over);
    exchange.stop_reading();
    co_await over.wait();
    co_await deny(exchange);
  });
  at = &served;
  Peer client = served.connect();
  client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n");
  CHECK(client.read_to_end() == kDeniedAndClosed);
  client.close();
  served.all_ended(1);
  CHECK(ended == Content::kBroken);
  CHECK(again == Content::kBroken);
}

TEST_CASE("Session: an answer to content that is malformed says that the connection ends", "[http1][session]") {
  Served served([](Exchange& exchange) -> net::Task<void> {
    Content piece = co_await exchange.read_content();
    while (piece.state == Content::kData) piece = co_await exchange.read_content();
    co_await deny(exchange);
  });
  Peer client = served.connect_tcp();
  client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n");
  CHECK(client.read_to_end() == kDeniedAndClosed);
  client.close();
  served.all_ended(1);
}

TEST_CASE("Session: a client that takes its response may be silent about its content", "[http1][session]") {
  Content::State ended = Content::kEnd;
  Served served([&](Exchange& exchange) -> net::Task<void> {
    net::Gate over(*net::Worker::current());
    [](Exchange& e, Content::State& state, net::Gate& done) -> net::Detached {
      const Content piece = co_await e.read_content();
      state = piece.state;
      done.open();
    }(exchange, ended, over);
    co_await exchange.send_head(head_of({Framing::kLength, 4}));
    for (int i = 0; i < 4; ++i) {
      co_await exchange.send_content("x");
      co_await net::Worker::current()->sleep_until(net::Worker::current()->now() + std::chrono::seconds{8});
    }
    co_await over.wait();
    co_await exchange.finish();
  });
  served.settings.client_inactivity_max = std::chrono::seconds{10};
  Peer client = served.connect_tcp();
  client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n");
  client.read_head();
  for (int i = 0; i < 4; ++i) {
    CHECK(client.read(1) == "x");
    served.on.settle();
    served.on.advance(std::chrono::seconds{8});
  }
  client.send("abc");
  wait_until("content is read", [&] { return served.on.call([&] { return ended != Content::kEnd; }); });
  CHECK(served.on.call([&] { return ended; }) == Content::kData);
}

TEST_CASE("Session: what is no request is refused with a reason and the end of the connection", "[http1][session]") {
  bool asked = false;
  Served served([&](Exchange& exchange) -> net::Task<void> {
    asked = true;
    co_await deny(exchange);
  });
  served.settings.head.bytes_max = 1000;
  for (const auto& [request, status] :
       {std::pair{std::string("GET / HTTP/1.1\r\nHost : a\r\n\r\n"), "400 "},
        {std::string("\x16\x03\x01\x02\r\n\r\n"), "400 "},
        {"GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(1000, 'x') + "\r\n\r\n", "431 "},
        {"GET /" + std::string(1000, 'x') + " HTTP/1.1\r\nHost: a\r\n\r\n", "414 "}}) {
    INFO(request);
    Peer client = served.connect_tcp();
    client.send(request);
    const std::string answer = client.read_to_end();
    CHECK(answer.starts_with(std::string("HTTP/1.1 ") + status));
    CHECK(answer.find("\r\nConnection: close\r\n") != std::string::npos);
    CHECK(answer.find("\r\nProxy-Status: telltale; error=http_request_error\r\n") != std::string::npos);
    CHECK(answer.find("\r\nDate: Mon, 30 Nov 2026 ") != std::string::npos);
    const std::string text = answer.substr(answer.find("\r\n\r\n") + 4);
    CHECK(text.starts_with(status));
    CHECK(text.ends_with(" (http_request_error)\n"));
  }
  served.all_ended(4);
  CHECK_FALSE(asked);
}

TEST_CASE("Session: a request head must arrive in time", "[http1][session]") {
  Served served(deny);
  Peer client = served.connect();
  client.send("GET / HT");
  served.wait_for_input(8);
  served.on.advance(seconds{29});
  client.send("TP/1.1\r\n");  // a byte now and then does not help
  served.wait_for_input(16);
  CHECK(served.ended() == 0);
  served.on.advance(seconds{1});
  const std::string answer = client.read_to_end();
  CHECK(answer.starts_with("HTTP/1.1 408 Request Timeout\r\n"));
  client.close();
  served.all_ended(1);
}

TEST_CASE("Session: an idle connection ends when its time is over, without a word", "[http1][session]") {
  Served served(deny);
  Peer client = served.connect();
  client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  CHECK(client.read(kDenied.size()) == kDenied);
  served.on.advance(seconds{119});
  CHECK(served.ended() == 0);
  served.on.advance(seconds{1});
  CHECK(client.read_to_end().empty());
  served.all_ended(1);
}

TEST_CASE("Session: idle connections end at once when the worker stops, an exchange may end first", "[http1][session]") {
  const std::size_t descriptors = net::test::open_descriptors();
  {
    net::Gate* gate = nullptr;
    Served* at = nullptr;
    Served served([&](Exchange& exchange) -> net::Task<void> {
      net::Gate go_on(at->on.worker());
      gate = &go_on;
      co_await go_on.wait();
      co_await deny(exchange);
    });
    at = &served;
    Peer idle = served.connect();
    Peer busy = served.connect();
    busy.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    wait_until("the request is being served", [&] { return served.on.call([&] { return gate != nullptr; }); });
    served.on.worker().stop(seconds{10});
    CHECK(idle.read_to_end().empty());
    served.on.worker().post([&] { gate->open(); });
    CHECK(busy.read_to_end() == kDeniedAndClosed);
    served.on.wait();
    CHECK(served.on.worker().poller().source_count() == 0);
  }
  CHECK(net::test::open_descriptors() == descriptors);
}

TEST_CASE("Session: an exchange that does not end in the time a stop gives it is broken off", "[http1][session]") {
  Content::State ended = Content::kEnd;
  bool sent = true;
  Served served([&](Exchange& exchange) -> net::Task<void> {
    const Content piece = co_await exchange.read_content();
    ended = piece.state;
    co_await exchange.send_head(head_of({Framing::kLength, 50'000'000}));
    sent = co_await exchange.send_content(std::string(50'000'000, 'x'));
  });
  Peer client = served.connect();
  const std::string head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n";
  client.send(head);
  served.wait_for_input(head.size());
  served.on.worker().stop(std::chrono::milliseconds{0});
  served.on.wait();  // no coroutine is left, else the worker would wait and warn
  CHECK(ended == Content::kShutdown);
  CHECK_FALSE(sent);
  CHECK(served.on.worker().poller().source_count() == 0);
  CHECK(client.read_to_end().size() < 50'000'000);
}

}  // namespace
}  // namespace telltale::http1
