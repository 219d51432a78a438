// SPDX-License-Identifier: Apache-2.0
#include "txn/hooks.h"

#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <telltale/diag/record.h>
#include <telltale/diag/scope.h>

#include "tests/unit/txn/proxy.h"

namespace telltale::txn::test {
namespace {

// Answers the next request that reaches the origin.
void serve_one(Origin& origin, std::string_view content) {
  Peer at = origin.accept();
  at.read_head();
  at.send(answer(content, "Connection: close\r\n"));
}

TEST_CASE("Hooks: are called in the order of the points and, at each, in the order they were added", "[txn][hooks]") {
  Origin origin;
  Proxy proxy(origin);
  std::vector<std::string> calls;  // on the worker
  for (const char* plugin : {"one", "two"}) {
    for (Hook hook : {Hook::kTxnClose, Hook::kSendResponse, Hook::kReadRequest, Hook::kTxnStart}) {
      proxy.add_hook(hook, plugin, [&calls, hook, plugin](Transaction& transaction, const Ticket&) {
        CHECK((transaction.response() != nullptr) == (hook == Hook::kSendResponse));
        calls.push_back(fmt::format("{} {}", hook_name(hook), plugin));
        return Next::kContinue;
      });
    }
  }
  Peer client = proxy.client();
  client.send(get("/x"));
  serve_one(origin, "ok");
  CHECK(read_answer(client, "ok") == answer("ok"));
  client.close();
  proxy.all_ended(1);
  CHECK(calls == std::vector<std::string>{"txn_start one", "txn_start two", "read_request one", "read_request two",
                                          "send_response one", "send_response two", "txn_close one", "txn_close two"});
}

TEST_CASE("Hooks: one that suspends holds its transaction, not its worker", "[txn][hooks]") {
  Origin origin;
  Proxy proxy(origin);
  std::optional<Ticket> ticket;  // on the worker
  proxy.add_hook(Hook::kReadRequest, "waits", [&](Transaction& transaction, const Ticket& given) {
    if (transaction.request().target != "/held") return Next::kContinue;
    ticket = given;
    return Next::kSuspend;
  });
  Peer held = proxy.client();
  held.send(get("/held"));
  wait_until("the hook is called", [&] { return proxy.on.call([&] { return ticket.has_value(); }); });
  Peer other = proxy.client();
  other.send(get("/other"));
  serve_one(origin, "other");
  CHECK(read_answer(other, "other") == answer("other"));
  CHECK(held.silent());

  SECTION("from the worker") {
    proxy.on.call([&] { ticket->reenable(); });
  }
  SECTION("from another thread") {
    std::thread([&] { ticket->reenable(); }).join();
  }
  SECTION("twice, and only the first call counts") {
    ticket->reenable();
    ticket->reenable(false);
  }
  serve_one(origin, "held");
  CHECK(read_answer(held, "held") == answer("held"));
  ticket->reenable(false);  // after the transaction has ended it does nothing
  held.send(get("/again"));
  serve_one(origin, "again");
  CHECK(read_answer(held, "again") == answer("again"));
}

TEST_CASE("Hooks: one may re-enable from within its own call", "[txn][hooks]") {
  Origin origin;
  Proxy proxy(origin);
  for (Hook hook : {Hook::kTxnStart, Hook::kReadRequest, Hook::kSendResponse, Hook::kTxnClose}) {
    proxy.add_hook(hook, "quick", [](Transaction&, const Ticket& ticket) {
      ticket.reenable();
      return Next::kSuspend;
    });
  }
  Peer client = proxy.client();
  for (int i = 0; i < 3; ++i) {
    client.send(get("/x"));
    serve_one(origin, "ok");
    CHECK(read_answer(client, "ok") == answer("ok"));
  }
}

TEST_CASE("Hooks: a request that a hook refuses never reaches an origin", "[txn][hooks]") {
  Origin origin;
  Proxy proxy(origin);
  bool later = false;
  for (Hook hook : {Hook::kTxnStart, Hook::kReadRequest}) {
    proxy.add_hook(hook, "refuses", [hook](Transaction& transaction, const Ticket& ticket) {
      if (transaction.request().target != fmt::format("/{}", hook_name(hook))) return Next::kContinue;
      ticket.reenable(false);
      return Next::kSuspend;
    });
    proxy.add_hook(hook, "later", [&, hook](Transaction& transaction, const Ticket&) {
      if (transaction.request().target == fmt::format("/{}", hook_name(hook))) later = true;
      return Next::kContinue;
    });
  }
  Peer client = proxy.client();
  for (const char* target : {"/txn_start", "/read_request"}) {
    client.send(get(target));
    const std::string head = client.read_head();
    CHECK(head.starts_with("HTTP/1.1 500 "));
    CHECK(has(head, "error=http_request_denied"));
    client.read_to("\n");
  }
  client.send(get("/x"));
  serve_one(origin, "ok");
  CHECK(read_answer(client, "ok") == answer("ok"));
  CHECK_FALSE(later);
}

TEST_CASE("Hooks: a response that a hook refuses is not sent, an error is, and no hook is asked about that", "[txn][hooks]") {
  Origin origin;
  Proxy proxy(origin);
  int asked = 0;  // on the worker
  proxy.add_hook(Hook::kSendResponse, "refuses", [&](Transaction&, const Ticket& ticket) {
    ++asked;
    ticket.reenable(false);
    return Next::kSuspend;
  });
  {
    Peer client = proxy.client();
    int expected = 0;
    auto refused = [&] {
      const std::string head = client.read_head();
      CHECK(head.starts_with("HTTP/1.1 500 "));
      CHECK(has(head, "error=http_request_denied"));
      client.read_to("\n");
      CHECK(asked == ++expected);
    };
    client.send(get("/x"));
    {
      Peer at = origin.accept();
      at.read_head();
      at.send(answer("ok", "Connection: close\r\nCache-Control: max-age=60\r\n"));
    }
    refused();
    client.send("GET /x HTTP/1.1\r\nHost: no-such-rule\r\n\r\n");  // the proxy's own answer
    refused();
  }
  proxy.all_ended(1);
}

TEST_CASE("Hooks: a transaction may have so many of its own, and one that adds itself for ever ends", "[txn][hooks]") {
  Origin origin;
  Proxy proxy(origin);
  std::size_t called = 0, refused = 0;  // on the worker
  std::function<Next(Transaction&, const Ticket&)> again = [&](Transaction& transaction, const Ticket&) {
    ++called;
    if (!transaction.hooks().add(Hook::kSendResponse, "again", again)) ++refused;
    return Next::kContinue;
  };
  proxy.add_hook(Hook::kSendResponse, "again", again);
  Peer client = proxy.client();
  client.send(get("/x"));
  serve_one(origin, "ok");
  CHECK(read_answer(client, "ok") == answer("ok"));
  CHECK(called == kTxnHooksMax + 1);
  CHECK(refused == 1);
}

TEST_CASE("Hooks: a transaction whose client has gone goes on when it is re-enabled, and ends", "[txn][hooks]") {
  Origin origin;
  Proxy proxy(origin);
  std::optional<Ticket> ticket;
  proxy.add_hook(Hook::kSendResponse, "waits", [&](Transaction&, const Ticket& given) {
    ticket = given;
    return Next::kSuspend;
  });
  Peer client = proxy.client();
  client.send(get("/x"));
  serve_one(origin, "ok");
  wait_until("the hook is called", [&] { return proxy.on.call([&] { return ticket.has_value(); }); });
  client.close();
  ticket->reenable();
  proxy.all_ended(1);
}

TEST_CASE("Hooks: a worker that stops ends a suspended transaction, and its ticket then does nothing", "[txn][hooks]") {
  Origin origin;
  std::optional<Ticket> ticket;
  std::optional<Peer> client;
  {
    Proxy proxy(origin);
    proxy.add_hook(Hook::kTxnStart, "waits", [&](Transaction&, const Ticket& given) {
      ticket = given;
      return Next::kSuspend;
    });
    client = proxy.client();
    client->send(get("/x"));
    wait_until("the hook is called", [&] { return proxy.on.call([&] { return ticket.has_value(); }); });
    proxy.stop();
    CHECK(proxy.on.worker().poller().source_count() == 0);
  }
  ticket->reenable();  // its worker is gone
  CHECK(client->read_to_end().starts_with("HTTP/1.1 50"));
}

TEST_CASE("Hooks: a ticket kept by a hook that went on does nothing, even when its worker is gone", "[txn][hooks]") {
  Origin origin;
  std::optional<Ticket> ticket;
  {
    Proxy proxy(origin);
    proxy.add_hook(Hook::kTxnStart, "keeps", [&](Transaction&, const Ticket& given) {
      ticket = given;
      return Next::kContinue;
    });
    Peer client = proxy.client();
    client.send(get("/x"));
    serve_one(origin, "ok");
    CHECK(read_answer(client, "ok") == answer("ok"));
  }
  ticket->reenable();
}

struct Seen {
  std::uint64_t connection, transaction;
  std::uint32_t plugin;
  friend bool operator==(const Seen&, const Seen&) = default;
};

Seen seen_now() {
  const diag::Context* context = diag::current_context();
  return context == nullptr ? Seen{} : Seen{context->connection, context->transaction, context->plugin};
}

TEST_CASE("Hooks: run in the context of their transaction, with their plugin's number", "[txn][hooks][diag]") {
  Origin origin;
  Proxy proxy(origin);
  const std::uint32_t one = diag::plugin_number("context-one"), two = diag::plugin_number("context-two");
  REQUIRE(one != 0);
  REQUIRE(one != two);
  std::vector<Seen> seen;
  std::vector<std::uint64_t> ids;
  for (const char* plugin : {"context-one", "context-two"}) {
    for (Hook hook : {Hook::kTxnStart, Hook::kSendResponse}) {
      proxy.add_hook(hook, plugin, [&](Transaction& transaction, const Ticket& ticket) {
        seen.push_back(seen_now());
        ids.push_back(transaction.id());
        ticket.reenable();
        return Next::kSuspend;
      });
    }
  }
  Peer client = proxy.client();
  client.send(get("/x"));
  serve_one(origin, "ok");
  CHECK(read_answer(client, "ok") == answer("ok"));
  client.close();
  proxy.all_ended(1);
  REQUIRE(ids.size() == 4);
  const Seen first{1, ids[0], one}, second{1, ids[0], two};
  CHECK(ids[0] != 0);
  CHECK(seen == std::vector<Seen>{first, second, first, second});
}

TEST_CASE("Hooks: two transactions of one worker keep their contexts apart, however they take turns", "[txn][hooks][diag]") {
  Origin origin;
  Proxy proxy(origin);
  std::vector<std::pair<std::uint64_t, Seen>> seen;  // the transaction's own id, and what the context says
  std::vector<Ticket> tickets;
  for (Hook hook : {Hook::kTxnStart, Hook::kReadRequest, Hook::kSendResponse, Hook::kTxnClose}) {
    proxy.add_hook(hook, "turns", [&](Transaction& transaction, const Ticket& ticket) {
      seen.emplace_back(transaction.id(), seen_now());
      tickets.push_back(ticket);
      return Next::kSuspend;
    });
  }
  auto both_wait = [&] {
    wait_until("both wait", [&] { return proxy.on.call([&] { return tickets.size() == 2; }); });
  };
  // Re-enables both, the second one first.
  auto go_on = [&] {
    proxy.on.call([&] {
      tickets[1].reenable();
      tickets[0].reenable();
      tickets.clear();
    });
  };
  Peer one = proxy.client(), other = proxy.client();
  one.send(get("/one"));
  wait_until("one waits", [&] { return proxy.on.call([&] { return tickets.size() == 1; }); });
  other.send(get("/other"));
  both_wait();
  go_on();
  both_wait();  // read_request
  go_on();
  Peer first = origin.accept(), second = origin.accept();
  first.read_head();
  second.read_head();
  second.send(answer("ok"));
  first.send(answer("ok"));
  both_wait();  // send_response
  go_on();
  CHECK(read_answer(one, "ok") == answer("ok"));
  CHECK(read_answer(other, "ok") == answer("ok"));
  both_wait();  // txn_close
  go_on();
  one.close();
  other.close();
  proxy.all_ended(2);
  REQUIRE(seen.size() == 8);
  const std::uint32_t plugin = diag::plugin_number("turns");
  for (const auto& [id, context] : seen) {
    CHECK(context.transaction == id);
    CHECK(context.plugin == plugin);
    CHECK(context.connection != 0);
    for (const auto& [other_id, other_context] : seen) {
      CHECK((id == other_id) == (context.connection == other_context.connection));
    }
  }
  CHECK(proxy.on.call([] { return diag::current_context(); }) == nullptr);
}

}  // namespace
}  // namespace telltale::txn::test
