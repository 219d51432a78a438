// SPDX-License-Identifier: Apache-2.0
#include "txn/origin_fetch.h"

#include <catch2/catch.hpp>
#include <string>

#include "tests/unit/txn/proxy.h"

namespace telltale::txn::test {
namespace {

// Asks once, so that a connection is pooled; returns the origin's end of it.
Peer pooled(Proxy& proxy, Origin& origin, Peer& client) {
  client.send(get("/first"));
  Peer at = origin.accept();
  at.read_head();
  at.send(answer("1"));
  CHECK(read_answer(client, "1") == answer("1"));
  wait_until("the connection is pooled", [&] { return proxy.idle_origins() == 1; });
  return at;
}

TEST_CASE("OriginFetch: a connection is used for one exchange after another", "[txn][origin]") {
  Origin origin;
  Proxy proxy(origin);
  Peer client = proxy.client();
  Peer at = pooled(proxy, origin, client);
  client.send("POST /second HTTP/1.1\r\nHost: a\r\nX: y\r\nContent-Length: 3\r\n\r\nabc");
  CHECK(at.read_to("abc") == fmt::format("POST /second HTTP/1.1\r\nHost: {}\r\nX: y\r\nContent-Length: 3\r\n\r\nabc", origin.authority()));
  at.send(answer("2"));
  CHECK(read_answer(client, "2") == answer("2"));
  CHECK_FALSE(origin.asked());
  CHECK(proxy.count(&Counters::origin_connections) == 1);
  CHECK(proxy.count(&Counters::origin_requests) == 2);
}

TEST_CASE("OriginFetch: a dead reused connection is replaced once where the request may be sent twice", "[txn][origin]") {
  Origin origin;
  Proxy proxy(origin);
  Peer client = proxy.client();
  Peer dead = pooled(proxy, origin, client);
  for (const char* method : {"GET", "DELETE", "OPTIONS"}) {
    INFO(method);
    const std::string request = fmt::format("{} /x HTTP/1.1\r\nHost: a\r\n\r\n", method);
    client.send(request);
    const std::string sent = dead.read_head();
    dead.close();
    Peer at = origin.accept();
    CHECK(at.read_head() == sent);
    at.send(answer("again"));
    CHECK(read_answer(client, "again") == answer("again"));
    wait_until("the connection is pooled", [&] { return proxy.idle_origins() == 1; });
    dead = std::move(at);
  }
}

TEST_CASE("OriginFetch: a second dead connection is not replaced", "[txn][origin]") {
  Origin origin;
  Proxy proxy(origin);
  Peer client = proxy.client();
  Peer dead = pooled(proxy, origin, client);
  client.send(get("/x"));
  dead.read_head();
  dead.close();
  Peer at = origin.accept();
  at.read_head();
  at.close();
  const std::string head = client.read_head();
  CHECK(head.starts_with("HTTP/1.1 502 "));
  CHECK(has(head, "Proxy-Status: telltale; error=connection_terminated\r\n"));
  CHECK_FALSE(origin.asked());
}

TEST_CASE("OriginFetch: a request that may not be sent twice is not", "[txn][origin]") {
  Origin origin;
  Proxy proxy(origin);
  for (const char* request : {"POST /x HTTP/1.1\r\nHost: a\r\n\r\n", "PATCH /x HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc",
                              "PUT /x HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"}) {
    INFO(request);
    Peer client = proxy.client();
    Peer dead = pooled(proxy, origin, client);
    client.send(request);
    dead.read_head();
    dead.close();
    const std::string head = client.read_head();
    CHECK(head.starts_with("HTTP/1.1 502 "));
    CHECK(has(head, "error=connection_terminated"));
    CHECK_FALSE(origin.asked());
    CHECK(proxy.idle_origins() == 0);
  }
}

TEST_CASE("OriginFetch: a pooled connection that the origin closed meanwhile is not tried, even for POST", "[txn][origin]") {
  Origin origin;
  Proxy proxy(origin);
  Peer client = proxy.client();
  pooled(proxy, origin, client).close();
  client.send("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc");
  Peer at = origin.accept();
  at.read_to("abc");
  at.send(answer("ok"));
  CHECK(read_answer(client, "ok") == answer("ok"));
}

TEST_CASE("OriginFetch: an answer while the client still uploads is heard, and the upload ends", "[txn][origin]") {
  Origin origin;
  Proxy proxy(origin);
  Peer client = proxy.client();
  client.send("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n" + std::string(10'000, 'x'));
  Peer at = origin.accept();
  at.read_head();
  at.read(10'000);
  const std::string too_large = "HTTP/1.1 413 Content Too Large\r\n" + kDate + "Content-Length: 3\r\n\r\nno\n";
  at.send(too_large);
  const std::string and_closed = "HTTP/1.1 413 Content Too Large\r\n" + kDate + "Content-Length: 3\r\nConnection: close\r\n\r\nno\n";
  CHECK(client.read(and_closed.size()) == and_closed);
  CHECK(at.read_to_end().empty());  // half a request does not look like a whole one
  CHECK(client.read_to_end().empty());
  client.close();
  proxy.all_ended(1);
  CHECK(proxy.idle_origins() == 0);
}

TEST_CASE("OriginFetch: an origin that stops reading holds the client back, then it is a time-out", "[txn][origin]") {
  // Case B140.
  Origin origin(4096);
  Proxy proxy(origin);
  Peer client = proxy.client();
  const int small = 4096;
  ::setsockopt(client.fd(), SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
  client.send("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\n");
  Peer at = origin.accept();
  at.read_head();
  const std::string piece(65536, 'x');
  wait_until("the proxy takes no more", [&] {
    while (client.send_some(piece) != 0) {
    }
    return proxy.holds_back();
  });
  const std::uint64_t received = proxy.bytes_in();
  CHECK(received < 64'000'000);  // what the sockets between hold; the proxy itself holds a block
  proxy.on.advance(seconds{29});
  CHECK(client.silent());
  proxy.on.advance(seconds{1});
  const std::string head = client.read_head();
  CHECK(head.starts_with("HTTP/1.1 504 "));
  CHECK(has(head, "error=connection_write_timeout"));
  client.close();
  proxy.all_ended(1);
}

TEST_CASE("OriginFetch: a client that stops reading holds the origin back", "[txn][origin]") {
  // Case B138.
  Origin origin;
  Proxy proxy(origin);
  Peer client = proxy.client();
  client.send(get("/x"));
  Peer at = origin.accept();
  at.read_head();
  at.send("HTTP/1.1 200 OK\r\n" + kDate + "Content-Length: 1000000000\r\n\r\n");
  client.read_head();
  const std::string piece(65536, 'x');
  std::uint64_t sent = 0, before = 1;
  wait_until("the proxy takes no more", [&] {
    before = sent;
    for (std::size_t n; (n = at.send_some(piece)) != 0;) sent += n;
    proxy.on.settle();
    return sent == before && sent > 100'000;
  });
  CHECK(sent < 64'000'000);
  client.close();
  proxy.all_ended(1);
}

TEST_CASE("OriginFetch: interim responses are forwarded, an unasked 100 is not", "[txn][origin]") {
  Origin origin;
  Proxy proxy(origin);
  Peer client = proxy.client();
  client.send(get("/x"));
  Peer at = origin.accept();
  at.read_head();
  at.send("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\nConnection: x-hop\r\nX-Hop: 1\r\n\r\n");
  CHECK(client.read_head() == "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n");
  at.send("HTTP/1.1 102 Processing\r\n\r\n" + answer("ok"));
  CHECK(client.read_head() == "HTTP/1.1 102 Processing\r\n\r\n");
  CHECK(read_answer(client, "ok") == answer("ok"));
  wait_until("the connection is pooled", [&] { return proxy.idle_origins() == 1; });
}

TEST_CASE("OriginFetch: an origin that switches protocols unasked is refused", "[txn][origin]") {
  Origin origin;
  Proxy proxy(origin);
  Peer client = proxy.client();
  client.send(get("/x", "Connection: upgrade\r\nUpgrade: websocket\r\n"));
  Peer at = origin.accept();
  CHECK_FALSE(has(at.read_head(), "pgrade"));
  at.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n");
  const std::string head = client.read_head();
  CHECK(head.starts_with("HTTP/1.1 502 "));
  CHECK(has(head, "error=http_upgrade_failed"));
  CHECK(at.read_to_end().empty());
}

constexpr const char* kExpecting = "POST /x HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n";

TEST_CASE("OriginFetch: the origin decides when a client that expects 100 sends", "[txn][origin]") {
  Origin origin;
  Proxy proxy(origin);
  Peer client = proxy.client();
  client.send(kExpecting);
  Peer at = origin.accept();
  CHECK(has(at.read_head(), "Expect: 100-continue\r\n"));
  SECTION("it says 100") {
    CHECK(client.silent());
    at.send("HTTP/1.1 100 Continue\r\n\r\n");
    CHECK(client.read_head() == "HTTP/1.1 100 Continue\r\n\r\n");
    client.send("abc");
    CHECK(at.read(3) == "abc");
    at.send(answer("ok"));
    CHECK(read_answer(client, "ok") == answer("ok"));
    wait_until("the connection is pooled", [&] { return proxy.idle_origins() == 1; });
  }
  SECTION("it says no") {
    at.send("HTTP/1.1 403 Forbidden\r\n" + kDate + "Content-Length: 2\r\n\r\nno");
    CHECK(client.read_to_end() == "HTTP/1.1 403 Forbidden\r\n" + kDate + "Content-Length: 2\r\nConnection: close\r\n\r\nno");
    CHECK(at.read_to_end().empty());
  }
  SECTION("it says nothing for a second") {
    proxy.on.advance(seconds{1});
    CHECK(client.read_head() == "HTTP/1.1 100 Continue\r\n\r\n");
    client.send("abc");
    CHECK(at.read(3) == "abc");
  }
  SECTION("it says something else, and then nothing for a second") {
    at.send("HTTP/1.1 103 Early Hints\r\n\r\n");
    CHECK(client.read_head() == "HTTP/1.1 103 Early Hints\r\n\r\n");
    proxy.on.settle();
    proxy.on.advance(seconds{1});
    CHECK(client.read_head() == "HTTP/1.1 100 Continue\r\n\r\n");
    client.send("abc");
    CHECK(at.read(3) == "abc");
  }
}

TEST_CASE("OriginFetch: chunked content is chunked anew", "[txn][origin]") {
  Origin origin;
  Proxy proxy(origin);
  Peer client = proxy.client();
  client.send("POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n");
  Peer at = origin.accept();
  CHECK(has(at.read_head(), "\r\nTransfer-Encoding: chunked\r\n"));
  CHECK(at.read(8) == "3\r\nabc\r\n");
  client.send("2\r\nde\r\n0\r\nTrailer: x\r\n\r\n");
  CHECK(at.read(12) == "2\r\nde\r\n0\r\n\r\n");
  at.send(answer("ok"));
  CHECK(read_answer(client, "ok") == answer("ok"));
}

TEST_CASE("OriginFetch: a request whose content breaks is answered and never looks whole to the origin", "[txn][origin]") {
  Origin origin;
  Proxy proxy(origin);
  proxy.state->session_settings.client_inactivity_max = seconds{10};
  Peer client = proxy.client();
  client.send("POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
  Peer at = origin.accept();
  at.read_to("abc\r\n");
  std::string expected;
  SECTION("malformed") {
    client.send("x\r\n");
    expected = "HTTP/1.1 400 ";
  }
  SECTION("too slow") {
    proxy.on.settle();
    proxy.on.advance(seconds{10});
    expected = "HTTP/1.1 408 ";
  }
  SECTION("half of it, then the end") {
    client.shutdown_write();
    expected = "HTTP/1.1 400 ";
  }
  const std::string head = client.read_head();
  CHECK(head.starts_with(expected));
  CHECK(has(head, "error=http_request_error"));
  CHECK(has(head, "\r\nConnection: close\r\n"));
  CHECK(at.read_to_end().empty());
  client.close();
  proxy.all_ended(1);
}

TEST_CASE("OriginFetch: an origin is no longer waited for when the client has gone", "[txn][origin]") {
  Origin origin;
  Proxy proxy(origin);
  Peer client = proxy.client();
  client.send(get("/x"));
  Peer at = origin.accept();
  at.read_head();
  SECTION("reset") {
    const linger abort{1, 0};
    ::setsockopt(client.fd(), SOL_SOCKET, SO_LINGER, &abort, sizeof abort);
    client.close();
  }
  SECTION("closed, which the next interim response tells") {
    client.close();
    for (int i = 0; i < 10; ++i) proxy.on.settle();
    CHECK(at.silent());
    proxy.on.advance(seconds{2});
  }
  CHECK(at.read_to_end().empty());
  proxy.all_ended(1);
  CHECK(proxy.idle_origins() == 0);
  CHECK(proxy.count(&Counters::failures) == 0);
}

TEST_CASE("OriginFetch: a client that only ends its sending side gets its answer", "[txn][origin]") {
  Origin origin;
  Proxy proxy(origin);
  Peer client = proxy.client();
  SECTION("at once") {
    client.send(get("/x"));
    client.shutdown_write();
    Peer at = origin.accept();
    at.read_head();
    at.send(answer("ok"));
    CHECK(client.read_to_end() == answer("ok"));
  }
  SECTION("late, after interim responses") {
    client.send(get("/x"));
    client.shutdown_write();
    Peer at = origin.accept();
    at.read_head();
    for (int i = 0; i < 10; ++i) proxy.on.settle();
    proxy.on.advance(seconds{2});
    CHECK(client.read_head() == "HTTP/1.1 100 Continue\r\n\r\n");
    for (int i = 0; i < 10; ++i) proxy.on.settle();
    CHECK(at.silent());
    at.send(answer("ok"));
    CHECK(client.read_to_end() == answer("ok"));
  }
  SECTION("late, but not to HTTP/1.0, which knows none") {
    client.send("GET /x HTTP/1.0\r\nHost: a\r\n\r\n");
    client.shutdown_write();
    Peer at = origin.accept();
    at.read_head();
    for (int i = 0; i < 10; ++i) proxy.on.settle();
    proxy.on.advance(seconds{2});
    CHECK(client.silent());
    at.send(answer("ok"));
    CHECK(has(client.read_to_end(), "\r\n\r\nok"));
  }
  client.close();
  proxy.all_ended(1);
}

TEST_CASE("OriginFetch: what the origin does wrong before its answer is told apart", "[txn][origin]") {
  Origin origin;
  Proxy proxy(origin);
  Peer client = proxy.client();
  client.send(get("/x"));
  Peer at = origin.accept();
  at.read_head();
  std::string status = "502", error;
  SECTION("closed") {
    at.close();
    error = "connection_terminated";
  }
  SECTION("half a head") {
    at.send("HTTP/1.1 200 OK\r\nX");
    at.close();
    error = "http_response_incomplete";
  }
  SECTION("no HTTP") {
    at.send("SSH-2.0-OpenSSH\r\n\r\n");
    error = "http_protocol_error";
  }
  SECTION("a head that is too large") {
    at.send("HTTP/1.1 200 OK\r\nX: " + std::string(40'000, 'x'));
    error = "http_response_header_section_size";
  }
  SECTION("silence") {
    proxy.on.settle();
    proxy.on.advance(seconds{29});
    CHECK(client.silent());
    proxy.on.advance(seconds{1});
    status = "504";
    error = "http_response_timeout";
  }
  const std::string head = client.read_head();
  CHECK(head.starts_with("HTTP/1.1 " + status + " "));
  CHECK(has(head, "Proxy-Status: telltale; error=" + error + "\r\n"));
  CHECK(has(head, "Cache-Control: no-store\r\n"));
  CHECK(proxy.idle_origins() == 0);
  client.send(get("/y"));  // the client's connection goes on
  CHECK(origin.accept().read_head().starts_with("GET /y "));
}

TEST_CASE("OriginFetch: a response head that outgrew its block is too large", "[txn][origin]") {
  Origin origin;
  Proxy proxy(origin);
  proxy.state->response_limits.bytes_max = 1 << 20;  // above what a block holds
  Peer client = proxy.client();
  client.send(get("/x"));
  Peer at = origin.accept();
  at.read_head();
  at.send("HTTP/1.1 200 OK\r\nX: " + std::string(32 * 1024 + http1::BlockPool::kContentRoom, 'x'));
  CHECK(has(client.read_head(), "error=http_response_header_section_size"));
}

TEST_CASE("OriginFetch: content that the origin does not finish ends the client's connection by a reset", "[txn][origin]") {
  Origin origin;
  Proxy proxy(origin);
  Peer client = proxy.client();
  client.send(get("/x"));
  Peer at = origin.accept();
  at.read_head();
  SECTION("closed") {
    at.send("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 10\r\n\r\nhalf");
    client.read_to("half");
    at.close();
  }
  SECTION("silent for too long") {
    at.send("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 10\r\n\r\nhalf");
    client.read_to("half");
    proxy.on.settle();
    proxy.on.advance(seconds{30});
  }
  SECTION("malformed") {
    at.send("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\nx\r\n");
  }
  CHECK(client.ends_by_reset());
  proxy.all_ended(1);
  CHECK(proxy.cache.counters().objects == 0);
  CHECK(proxy.idle_origins() == 0);
}

TEST_CASE("OriginFetch: only a connection that came to a clean end is pooled", "[txn][origin]") {
  Origin origin;
  Proxy proxy(origin);
  Peer client = proxy.client();
  client.send(get("/x"));
  Peer at = origin.accept();
  at.read_head();
  bool kept = false;
  SECTION("clean") {
    at.send(answer("ok"));
    kept = true;
  }
  SECTION("the origin says close") { at.send(answer("ok", "Connection: close\r\n")); }
  SECTION("bytes follow that belong to no response") { at.send(answer("ok") + "X"); }
  SECTION("HTTP/1.0") { at.send("HTTP/1.0 200 OK\r\n" + kDate + "Content-Length: 2\r\n\r\nok"); }
  CHECK(read_answer(client, "ok") == answer("ok"));
  if (kept) {
    wait_until("the connection is pooled", [&] { return proxy.idle_origins() == 1; });
  } else {
    CHECK(at.read_to_end().empty());
    CHECK(proxy.idle_origins() == 0);
  }
}

TEST_CASE("OriginFetch: an origin that is not there is refused", "[txn][origin]") {
  std::optional<Origin> origin(std::in_place);
  Proxy proxy(*origin);
  origin.reset();
  Peer client = proxy.client();
  client.send(get("/x"));
  const std::string head = client.read_head();
  CHECK(head.starts_with("HTTP/1.1 502 "));
  CHECK(has(head, "error=connection_refused"));
}

TEST_CASE("OriginFetch: a worker that stops in mid-exchange leaves no descriptor and no coroutine", "[txn][origin]") {
  const std::size_t descriptors = net::test::open_descriptors();
  {
    Origin origin;
    Proxy proxy(origin);
    Peer waiting = proxy.client();
    waiting.send(get("/x"));
    Peer first = origin.accept();
    first.read_head();
    Peer uploading = proxy.client();
    uploading.send("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc");
    Peer second = origin.accept();
    second.read_to("abc");
    Peer relaying = proxy.client();
    relaying.send(get("/y"));
    Peer third = origin.accept();
    third.read_head();
    third.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc");
    relaying.read_to("abc");
    proxy.on.settle();
    proxy.stop();  // no coroutine is left, else the worker would wait and warn
    CHECK(proxy.on.worker().poller().source_count() == 0);
    CHECK(waiting.read_head().starts_with("HTTP/1.1 503 "));
    CHECK(relaying.ends_by_reset());
  }
  CHECK(net::test::open_descriptors() == descriptors);
}

}  // namespace
}  // namespace telltale::txn::test
