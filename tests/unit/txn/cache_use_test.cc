// SPDX-License-Identifier: Apache-2.0
// What a transaction does with the cache, and what it answers itself.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/unit/txn/proxy.h"
#include "txn/transaction.h"

namespace telltale::txn::test {
namespace {

constexpr const char* kFresh = "Cache-Control: max-age=60\r\n";

// Sends a request that the origin answers; returns what the client got.
std::string through(Origin& origin, Peer& client, const std::string& request, const std::string& response, std::string_view content) {
  client.send(request);
  Peer at = origin.accept();
  at.read_head();
  at.send(response);
  return read_answer(client, content);
}
std::string closing(std::string_view fields) { return fmt::format("Connection: close\r\n{}", fields); }

// What a stored "ok" looks like `age` seconds later.
std::string hit(int age) {
  return fmt::format("HTTP/1.1 200 OK\r\n{}{}Content-Length: 2\r\nAge: {}\r\n\r\nok", kDate, kFresh, age);
}

TEST_CASE("Transaction: a stored response answers until it is stale, with its age", "[txn][cache]") {
  Origin origin;
  Proxy proxy(origin);
  Peer client = proxy.client();
  CHECK(through(origin, client, get("/x"), answer("ok", closing(kFresh)), "ok") == answer("ok", kFresh));
  client.send(get("/x"));
  CHECK(read_answer(client, "ok") == hit(0));
  proxy.on.advance(seconds{59});
  client.send(get("/x"));
  CHECK(read_answer(client, "ok") == hit(59));
  CHECK_FALSE(origin.asked());
  proxy.on.advance(seconds{1});
  // The origin's Date is now a minute old: this one is stale on arrival and not stored.
  CHECK(through(origin, client, get("/x"), answer("ok", closing(kFresh)), "ok") == answer("ok", kFresh));
  CHECK(proxy.count(&Counters::cache_hits) == 2);
  CHECK(proxy.count(&Counters::cache_misses) == 1);
  CHECK(proxy.count(&Counters::cache_stale) == 1);
  CHECK(proxy.count(&Counters::cache_stored) == 1);
}

TEST_CASE("Transaction: HEAD is answered from a stored GET, not the other way round", "[txn][cache]") {
  Origin origin;
  Proxy proxy(origin);
  Peer client = proxy.client();
  through(origin, client, "HEAD /x HTTP/1.1\r\nHost: a\r\n\r\n", answer("ok", closing(kFresh)), "");
  CHECK(proxy.cache.counters().objects == 0);
  through(origin, client, get("/x"), answer("ok", closing(kFresh)), "ok");
  client.send("HEAD /x HTTP/1.1\r\nHost: a\r\n\r\n");
  CHECK(client.read_head() + "ok" == hit(0));
  client.send(get("/x"));
  CHECK(read_answer(client, "ok") == hit(0));
}

TEST_CASE("Transaction: the age counts from when the response's head came, however slowly its content follows", "[txn][cache][rfc9111]") {
  Origin origin;
  Proxy proxy(origin);
  Peer client = proxy.client();
  client.send(get("/x"));
  Peer at = origin.accept();
  at.read_head();
  at.send("HTTP/1.1 200 OK\r\n" + kDate + kFresh + "Content-Length: 2\r\n\r\n");
  client.read_head();
  proxy.on.settle();
  proxy.on.advance(seconds{20});
  at.send("ok");
  CHECK(client.read(2) == "ok");
  client.send(get("/x"));
  CHECK(read_answer(client, "ok") == hit(20));
}

TEST_CASE("Transaction: the time until the response came is part of its age", "[txn][cache][rfc9111]") {
  Origin origin;
  Proxy proxy(origin);
  Peer client = proxy.client();
  client.send(get("/x"));
  Peer at = origin.accept();
  at.read_head();
  proxy.on.settle();
  proxy.on.advance(seconds{7});
  at.send("HTTP/1.1 200 OK\r\n" + std::string(kFresh) + "Age: 10\r\nContent-Length: 2\r\n\r\nok");
  read_answer(client, "ok");
  client.send(get("/x"));
  CHECK(has(client.read_head(), "\r\nAge: 17\r\n"));
}

TEST_CASE("Transaction: what a client demands of freshness is met", "[txn][cache][rfc9111]") {
  Origin origin;
  Proxy proxy(origin);
  Peer client = proxy.client();
  through(origin, client, get("/x"), answer("ok", closing(kFresh)), "ok");
  proxy.on.advance(seconds{10});
  for (const char* demand : {"max-age=10", "min-fresh=50", "only-if-cached", "max-stale"}) {
    INFO(demand);
    client.send(get("/x", fmt::format("Cache-Control: {}\r\n", demand)));
    CHECK(read_answer(client, "ok") == hit(10));
  }
  for (const char* demand : {"max-age=9", "min-fresh=51", "no-cache"}) {
    INFO(demand);
    client.send(get("/x", fmt::format("Cache-Control: {}\r\n", demand)));
    Peer at = origin.accept();
    at.read_head();
    at.send(answer("no", "Connection: close\r\nCache-Control: no-store\r\n"));
    CHECK(read_answer(client, "no") == answer("no", "Cache-Control: no-store\r\n"));
  }
  client.send(get("/other", "Cache-Control: only-if-cached\r\n"));
  CHECK(client.read_head().starts_with("HTTP/1.1 504 "));
  CHECK_FALSE(origin.asked());
}

TEST_CASE("Transaction: an object as large as the setting allows is stored, one byte more is not", "[txn][cache]") {
  Origin origin;
  Proxy proxy(origin);
  proxy.settings.object_bytes_max = 5000;
  proxy.apply();
  Peer client = proxy.client();
  for (const bool chunked : {false, true}) {
    for (const std::size_t bytes : {5000, 5001}) {
      INFO(bytes << (chunked ? " chunked" : ""));
      const std::string content(bytes, 'x');
      const std::string target = fmt::format("/{}{}", bytes, chunked);
      client.send(get(target));
      Peer at = origin.accept();
      at.read_head();
      if (chunked) {
        at.send("HTTP/1.1 200 OK\r\nConnection: close\r\n" + kDate + kFresh + "Transfer-Encoding: chunked\r\n\r\n");
        at.send(fmt::format("{:x}\r\n{}\r\n0\r\n\r\n", bytes, content));
        CHECK(has(client.read_to("\r\n0\r\n\r\n"), "\r\nTransfer-Encoding: chunked\r\n"));
      } else {
        at.send(answer(content, closing(kFresh)));
        CHECK((read_answer(client, content) == answer(content, kFresh)));
      }
      client.send(get(target));
      if (bytes == 5000) {
        const std::string head = client.read_head();
        CHECK(has(head, "\r\nAge: 0\r\n"));
        CHECK(has(head, "\r\nContent-Length: 5000\r\n"));  // known by now
        CHECK((client.read(bytes) == content));
      } else {
        Peer again = origin.accept();
        again.read_head();
        again.send(answer("x", "Connection: close\r\n"));
        read_answer(client, "x");
      }
    }
  }
}

TEST_CASE("Transaction: a change through the proxy invalidates what is stored, a failed one does not", "[txn][cache][rfc9111]") {
  Origin origin;
  Proxy proxy(origin);
  Peer client = proxy.client();
  for (const char* method : {"POST", "PUT", "DELETE", "PATCH", "PURGE"}) {
    INFO(method);
    const std::string change = fmt::format("{} /x HTTP/1.1\r\nHost: a\r\n\r\n", method);
    through(origin, client, get("/x"), answer("ok", closing(kFresh)), "ok");
    through(origin, client, get("/y"), answer("ok", closing(kFresh)), "ok");
    through(origin, client, change, "HTTP/1.1 500 No\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno", "no");
    client.send(get("/x"));
    CHECK(read_answer(client, "ok") == hit(0));
    through(origin, client, change, "HTTP/1.1 303 See\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno", "no");
    CHECK(proxy.cache.counters().objects == 1);  // /y
    proxy.cache.set_capacity(0);
    proxy.cache.set_capacity(1 << 20);
  }
}

TEST_CASE("Transaction: a hook changes what a client gets of a stored response, not the stored one", "[txn][cache][hooks]") {
  Origin origin;
  Proxy proxy(origin);
  int calls = 0;
  proxy.add_hook(Hook::kSendResponse, "changes", [&](Transaction& transaction, const Ticket&) {
    transaction.response()->fields.add_copy("X-Call", std::to_string(++calls));
    transaction.response()->fields.remove("Cache-Control");
    return Next::kContinue;
  });
  Peer client = proxy.client();
  CHECK(through(origin, client, get("/x"), answer("ok", closing(kFresh)), "ok") ==
        "HTTP/1.1 200 OK\r\n" + kDate + "X-Call: 1\r\nContent-Length: 2\r\n\r\nok");
  for (int call : {2, 3}) {
    client.send(get("/x"));
    CHECK(read_answer(client, "ok") ==
          fmt::format("HTTP/1.1 200 OK\r\n{}Age: 0\r\nX-Call: {}\r\nContent-Length: 2\r\n\r\nok", kDate, call));
  }
  const cache::StoredResponsePtr stored =
      proxy.cache.find(cache::cache_key(fmt::format("http://{}/x", origin.authority())), {}).response;
  REQUIRE(stored);
  CHECK(stored->fields.find("X-Call") == nullptr);
  CHECK(stored->http1_head == "HTTP/1.1 200 OK\r\n" + kDate + kFresh + "Content-Length: 2\r\n");
}

TEST_CASE("Transaction: with the cache off nothing is looked up or stored", "[txn][cache]") {
  Origin origin;
  Proxy proxy(origin);
  proxy.settings.cache_enabled = false;
  proxy.apply();
  Peer client = proxy.client();
  through(origin, client, get("/x"), answer("ok", closing(kFresh)), "ok");
  through(origin, client, get("/x"), answer("ok", closing(kFresh)), "ok");
  CHECK(proxy.cache.counters().objects == 0);
  CHECK(proxy.count(&Counters::cache_bypassed) == 2);
}

TEST_CASE("Transaction: the key is the target as forwarded", "[txn][cache]") {
  // Case B150.
  Origin origin;
  Proxy proxy(origin);
  Peer client = proxy.client();
  for (const char* target : {"/", "/%5C", "/%2e", "//", "/./", "/a/../", "/?", "/A", "/a"}) {
    INFO(target);
    client.send(get(target));
    Peer at = origin.accept();
    CHECK(at.read_head().starts_with(fmt::format("GET {} HTTP/1.1\r\n", target)));
    at.send(answer(target, closing(kFresh)));
    CHECK(read_answer(client, target) == answer(target, kFresh));
  }
}

TEST_CASE("Transaction: what it answers itself says why", "[txn]") {
  Origin origin;
  Proxy proxy(origin);
  Peer client = proxy.client();
  client.send("TRACE / HTTP/1.1\r\nHost: a\r\n\r\n");
  std::string head = client.read_head();
  CHECK(head.starts_with("HTTP/1.1 405 "));
  CHECK(has(head, "\r\nAllow: "));
  client.read_to("\n");
  client.send("GET / HTTP/1.1\r\nHost: unknown\r\n\r\n");
  head = client.read_head();
  CHECK(head.starts_with("HTTP/1.1 404 "));
  CHECK(has(head, "Proxy-Status: telltale; error=destination_not_found\r\n"));
  CHECK(has(head, "Cache-Control: no-store\r\n"));
  CHECK(has(head, kDate));
  CHECK(client.read_to("\n") == "404 Not Found: no remap rule matches this host and path (destination_not_found)\n");
  client.send("HEAD / HTTP/1.1\r\nHost: unknown\r\n\r\n");
  CHECK(client.read_head().starts_with("HTTP/1.1 404 "));
  CHECK(client.silent());
  CHECK(proxy.count(&Counters::failures) == 3);
}

TEST_CASE("Transaction: Host and Via are what the settings say, hop-by-hop fields stay behind", "[txn]") {
  Origin origin;
  Proxy proxy(origin);
  Peer client = proxy.client();
  proxy.settings.request_via = proxy.settings.response_via = true;
  proxy.settings.pristine_host = true;
  proxy.apply();
  client.send("GET /x HTTP/1.1\r\nHost: a\r\nTE: trailers\r\nConnection: x-hop\r\nX-Hop: 1\r\nExpect: 100-continue\r\nX: y\r\n\r\n");
  Peer at = origin.accept();
  CHECK(at.read_head() == "GET /x HTTP/1.1\r\nHost: a\r\nX: y\r\nVia: 1.1 telltale\r\n\r\n");
  at.send("HTTP/1.0 200 OK\r\nKeep-Alive: x\r\nX: z\r\nContent-Length: 2\r\n\r\nok");
  CHECK(read_answer(client, "ok") == "HTTP/1.1 200 OK\r\nX: z\r\n" + kDate + "Via: 1.0 telltale\r\nContent-Length: 2\r\n\r\nok");
}

TEST_CASE("IdSource: sources of one counter never give the same id, nor 0", "[txn]") {
  std::atomic<std::uint64_t> blocks{0};
  IdSource one(blocks), other(blocks);
  std::vector<bool> given(1001);
  for (int i = 0; i < 500; ++i) {
    for (IdSource* source : {&one, &other}) {
      const std::uint64_t id = source->next();
      REQUIRE(id != 0);
      REQUIRE(id < given.size());
      REQUIRE_FALSE(given[id]);
      given[id] = true;
    }
  }
}

}  // namespace
}  // namespace telltale::txn::test
