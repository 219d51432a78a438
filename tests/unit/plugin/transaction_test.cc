// SPDX-License-Identifier: Apache-2.0
// Plugins' calls on transactions that really run, one worker, an origin the test plays.
#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <catch2/catch.hpp>

#define TELLTALE_SITES
#include "plugin/continuation.h"
#include "plugin/txn_slot.h"
#include "tests/unit/diag/output_capture.h"
#include "tests/unit/txn/proxy.h"
#include "ts/ts.h"

namespace telltale::plugin::test {
namespace {

using namespace telltale::txn::test;

using Handler = std::function<void(TSCont, TSEvent, TSHttpTxn)>;

// A continuation whose handler is a lambda of the test.
int call_lambda(TSCont contp, TSEvent event, void* data) {
  (*static_cast<Handler*>(TSContDataGet(contp)))(contp, event, static_cast<TSHttpTxn>(data));
  return 0;
}

struct Cont {
  explicit Cont(Handler h, TSMutex mutex = nullptr) : handler(std::move(h)), contp(TSContCreate(call_lambda, mutex)) {
    TSContDataSet(contp, &handler);
  }
  ~Cont() {
    if (contp != nullptr) TSContDestroy(contp);
  }
  Cont(const Cont&) = delete;
  Cont& operator=(const Cont&) = delete;
  Handler handler;
  TSCont contp;
};

void hook(Proxy& proxy, TSHttpHookID id, Cont& cont) {
  auto offered = offered_hook(id);
  REQUIRE(offered);
  proxy.add_hook(offered->hook, "test_plugin", hook_function(Handle::of(cont.contp), offered->event));
}

void go_on(TSHttpTxn txnp) { TSHttpTxnReenable(txnp, TS_EVENT_HTTP_CONTINUE); }

std::string text(const char* at, int length) { return at == nullptr ? std::string("(none)") : std::string(at, static_cast<std::size_t>(length)); }

void serve(Origin& origin, std::string_view fields = "", std::string* head = nullptr) {
  Peer at = origin.accept();
  std::string read = at.read_head();
  if (head != nullptr) *head = read;
  at.send(answer("ok", "Connection: close\r\n" + std::string(fields)));
}

TSReturnCode append(TSMBuffer bufp, TSMLoc hdr, const char* name, const char* value) {
  TSMLoc field;
  if (TSMimeHdrFieldCreateNamed(bufp, hdr, name, -1, &field) != TS_SUCCESS) return TS_ERROR;
  TSReturnCode done = TSMimeHdrFieldValueStringSet(bufp, hdr, field, -1, value, -1);
  if (done == TS_SUCCESS) done = TSMimeHdrFieldAppend(bufp, hdr, field);
  TSHandleMLocRelease(bufp, hdr, field);
  return done;
}

}  // namespace

TEST_CASE("Plugin: reads the request, and changes fields of the request and of the response", "[plugin][txn]") {
  Origin origin;
  Proxy proxy(origin);
  std::map<std::string, std::string> seen;  // on the worker
  Cont request([&](TSCont, TSEvent event, TSHttpTxn txnp) {
    CHECK(event == TS_EVENT_HTTP_READ_REQUEST_HDR);
    TSMBuffer bufp;
    TSMLoc hdr, url;
    int length = 0;
    REQUIRE(TSHttpTxnClientReqGet(txnp, &bufp, &hdr) == TS_SUCCESS);
    REQUIRE(TSHttpHdrUrlGet(bufp, hdr, &url) == TS_SUCCESS);
    auto keep = [&](const char* name, const char* at) { seen[name] = text(at, length); };
    keep("method", TSHttpHdrMethodGet(bufp, hdr, &length));
    keep("host", TSUrlHostGet(bufp, url, &length));
    keep("path", TSUrlPathGet(bufp, url, &length));
    keep("query", TSUrlHttpQueryGet(bufp, url, &length));
    CHECK(TSUrlPortGet(bufp, url) == 80);
    CHECK(TSHttpHdrStatusGet(bufp, hdr) == 0);
    CHECK(TSHttpTxnIdGet(txnp) > 0);
    CHECK(TSHttpTxnClientAddrGet(txnp)->sa_family == AF_INET);

    TSMLoc list = TSMimeHdrFieldFind(bufp, hdr, "x-list", -1);
    REQUIRE(list != TS_NULL_MLOC);
    CHECK(TSMimeHdrFieldValuesCount(bufp, hdr, list) == 3);
    keep("name", TSMimeHdrFieldNameGet(bufp, hdr, list, &length));
    keep("all", TSMimeHdrFieldValueStringGet(bufp, hdr, list, -1, &length));
    keep("second", TSMimeHdrFieldValueStringGet(bufp, hdr, list, 1, &length));
    keep("fourth", TSMimeHdrFieldValueStringGet(bufp, hdr, list, 3, &length));
    CHECK(TSMimeHdrFieldValueStringSet(bufp, hdr, list, 1, "B", -1) == TS_SUCCESS);
    CHECK(TSMimeHdrFieldValueStringInsert(bufp, hdr, list, 0, "first", 5) == TS_SUCCESS);
    CHECK(TSMimeHdrFieldValueStringInsert(bufp, hdr, list, -1, "last", -1) == TS_SUCCESS);
    TSMLoc twice = TSMimeHdrFieldFind(bufp, hdr, "X-Twice", 7);
    TSMLoc again = TSMimeHdrFieldNextDup(bufp, hdr, twice);
    keep("dup", TSMimeHdrFieldValueStringGet(bufp, hdr, again, -1, &length));
    CHECK(TSMimeHdrFieldNextDup(bufp, hdr, again) == TS_NULL_MLOC);
    CHECK(TSMimeHdrFieldDestroy(bufp, hdr, twice) == TS_SUCCESS);
    CHECK(TSMimeHdrFieldFind(bufp, hdr, "X-None", -1) == TS_NULL_MLOC);
    CHECK(append(bufp, hdr, "X-Added", "by a plugin") == TS_SUCCESS);
    for (TSMLoc one : {list, again, url, hdr}) CHECK(TSHandleMLocRelease(bufp, hdr, one) == TS_SUCCESS);
    go_on(txnp);
  });
  Cont response([&](TSCont, TSEvent, TSHttpTxn txnp) {
    TSMBuffer bufp;
    TSMLoc hdr;
    REQUIRE(TSHttpTxnClientRespGet(txnp, &bufp, &hdr) == TS_SUCCESS);
    CHECK(TSHttpHdrStatusGet(bufp, hdr) == 200);
    CHECK(append(bufp, hdr, "X-Note", "hello") == TS_SUCCESS);
    TSMLoc field = TSMimeHdrFieldFind(bufp, hdr, "X-Origin", -1);
    CHECK(TSMimeHdrFieldRemove(bufp, hdr, field) == TS_SUCCESS);
    CHECK(TSMimeHdrFieldFind(bufp, hdr, "X-Origin", -1) == TS_NULL_MLOC);
    CHECK(TSMimeHdrFieldAppend(bufp, hdr, field) == TS_SUCCESS);
    go_on(txnp);
  });
  hook(proxy, TS_HTTP_READ_REQUEST_HDR_HOOK, request);
  hook(proxy, TS_HTTP_SEND_RESPONSE_HDR_HOOK, response);
  Peer client = proxy.client();
  client.send(get("/a/b?c=d", "X-List: a, \"b,b\" ,c\r\nX-Twice: 1\r\nX-Twice: 2\r\n"));
  std::string forwarded;
  serve(origin, "X-Origin: yes\r\n", &forwarded);
  std::string head = client.read_head();
  CHECK(seen == std::map<std::string, std::string>{{"method", "GET"}, {"host", "a"}, {"path", "a/b"}, {"query", "c=d"},
                                                   {"name", "X-List"}, {"all", "a, \"b,b\" ,c"}, {"second", "\"b,b\""},
                                                   {"fourth", "(none)"}, {"dup", "2"}});
  CHECK(has(forwarded, "X-List: first, a, B ,c, last\r\n"));
  CHECK(has(forwarded, "X-Added: by a plugin\r\n"));
  CHECK(has(forwarded, "X-Twice: 2\r\n"));
  CHECK_FALSE(has(forwarded, "X-Twice: 1"));
  CHECK(has(head, "X-Note: hello\r\nX-Origin: yes\r\n"));
}

TEST_CASE("Plugin: lets a suspended transaction go on from another thread, later, or in its own callback", "[plugin][txn]") {
  Origin origin;
  Proxy proxy(origin);
  std::mutex mutex;
  std::condition_variable changed;
  TSHttpTxn waiting = nullptr;
  Cont cont([&](TSCont, TSEvent event, TSHttpTxn txnp) {
    if (event != TS_EVENT_HTTP_READ_REQUEST_HDR) return go_on(txnp);
    std::lock_guard lock(mutex);
    waiting = txnp;
    changed.notify_all();
  });
  for (TSHttpHookID id : {TS_HTTP_TXN_START_HOOK, TS_HTTP_READ_REQUEST_HDR_HOOK, TS_HTTP_SEND_RESPONSE_HDR_HOOK, TS_HTTP_TXN_CLOSE_HOOK}) {
    hook(proxy, id, cont);
  }
  std::thread plugin([&] {
    for (int i = 0; i < 3; ++i) {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return waiting != nullptr; });
      TSMBuffer bufp;
      TSMLoc hdr;
      CHECK(TSHttpTxnClientReqGet(waiting, &bufp, &hdr) == TS_SUCCESS);
      go_on(std::exchange(waiting, nullptr));
    }
  });
  Peer client = proxy.client();
  for (int i = 0; i < 3; ++i) {
    client.send(get("/x"));
    serve(origin);
    CHECK(has(read_answer(client, "ok"), "200 OK"));
  }
  plugin.join();
}

TEST_CASE("Plugin: a transaction that is answered twice, or after its end, is left alone, and a line says so", "[plugin][txn]") {
  Origin origin;
  Proxy proxy(origin);
  diag::Capture capture;
  TSHttpTxn kept = nullptr;
  TSMBuffer kept_buffer = nullptr;
  TSMLoc kept_head = nullptr;
  Cont cont([&](TSCont, TSEvent, TSHttpTxn txnp) {
    kept = txnp;
    TSHttpTxnClientReqGet(txnp, &kept_buffer, &kept_head);
    go_on(txnp);
    TSHttpTxnReenable(txnp, TS_EVENT_HTTP_ERROR);
  });
  hook(proxy, TS_HTTP_READ_REQUEST_HDR_HOOK, cont);
  Peer client = proxy.client();
  client.send(get("/x"));
  serve(origin);
  CHECK(has(read_answer(client, "ok"), "200 OK"));
  CHECK(has(capture.text(), "TSHttpTxnReenable: no hook of this transaction waits for an answer: it was given already"));
  client.close();
  proxy.all_ended(1);

  go_on(kept);
  CHECK(has(capture.text(), "ERROR TSHttpTxnReenable: the transaction has ended"));
  TSMBuffer bufp;
  TSMLoc hdr;
  int length = 1;
  CHECK(TSHttpTxnClientReqGet(kept, &bufp, &hdr) == TS_ERROR);
  CHECK(TSHttpHdrMethodGet(kept_buffer, kept_head, &length) == nullptr);
  CHECK(length == 0);
  CHECK(TSMimeHdrFieldFind(kept_buffer, kept_head, "Host", -1) == TS_NULL_MLOC);
  CHECK(TSHttpTxnIdGet(kept) == 0);
  CHECK(TSHttpTxnHookAdd(kept, TS_HTTP_TXN_CLOSE_HOOK, cont.contp) == TS_ERROR);
  for (TSHttpTxn wrong : {TSHttpTxn{}, reinterpret_cast<TSHttpTxn>(cont.contp), reinterpret_cast<TSHttpTxn>(~0ULL), reinterpret_cast<TSHttpTxn>(&origin)}) {
    go_on(wrong);
    CHECK(TSHttpTxnClientAddrGet(wrong) == nullptr);
  }
  CHECK(TSHandleMLocRelease(bufp, hdr, TS_NULL_MLOC) == TS_ERROR);
}

TEST_CASE("Plugin: outside its hooks a transaction can be neither read nor changed", "[plugin][txn]") {
  Origin origin;
  Proxy proxy(origin);
  diag::Capture capture;
  TSHttpTxn kept = nullptr;
  Cont cont([&](TSCont, TSEvent, TSHttpTxn txnp) {
    kept = txnp;
    TSMBuffer bufp;
    TSMLoc hdr;
    CHECK(TSHttpTxnClientRespGet(txnp, &bufp, &hdr) == TS_ERROR);  // no response yet
    go_on(txnp);
  });
  hook(proxy, TS_HTTP_READ_REQUEST_HDR_HOOK, cont);
  Peer client = proxy.client();
  client.send(get("/x"));
  Peer at = origin.accept();  // the transaction waits for its origin
  at.read_head();
  TSMBuffer bufp;
  TSMLoc hdr;
  CHECK(TSHttpTxnClientReqGet(kept, &bufp, &hdr) == TS_ERROR);
  CHECK(has(capture.text(), "TSHttpTxnClientReqGet: the transaction is neither in a hook of a plugin nor suspended by one"));
  CHECK(TSHttpTxnIdGet(kept) > 0);
  at.send(answer("ok", "Connection: close\r\n"));
  CHECK(has(read_answer(client, "ok"), "200 OK"));
}

TEST_CASE("Plugin: TS_EVENT_HTTP_ERROR, or an exception, refuses the request and nothing else", "[plugin][txn]") {
  Origin origin;
  Proxy proxy(origin);
  diag::Capture capture;
  Cont cont([&](TSCont, TSEvent, TSHttpTxn txnp) {
    TSMBuffer bufp;
    TSMLoc hdr, url;
    int length = 0;
    TSHttpTxnClientReqGet(txnp, &bufp, &hdr);
    TSHttpHdrUrlGet(bufp, hdr, &url);
    const char* at = TSUrlPathGet(bufp, url, &length);
    std::string path = text(at, length);
    if (path == "throws") throw std::runtime_error("no licence");
    if (path == "throws_int") throw 7;
    TSHttpTxnReenable(txnp, path == "refused" ? TS_EVENT_HTTP_ERROR : path == "odd" ? TS_EVENT_NONE : TS_EVENT_HTTP_CONTINUE);
  });
  hook(proxy, TS_HTTP_READ_REQUEST_HDR_HOOK, cont);
  Peer client = proxy.client();
  for (const char* path : {"/refused", "/odd", "/throws", "/throws_int"}) {
    INFO(path);
    client.send(get(path));
    std::string head = client.read_head();
    CHECK(has(head, "HTTP/1.1 500 "));
    std::size_t at = head.find("Content-Length: ");
    client.read(static_cast<std::size_t>(std::stoi(head.substr(at + 16))));
  }
  std::string lines = capture.text();
  CHECK(has(lines, "TS_EVENT_HTTP_READ_REQUEST_HDR: an exception came out of the plugin: no licence"));
  CHECK(has(lines, "TS_EVENT_HTTP_READ_REQUEST_HDR: an exception came out of the plugin\n"));
  client.send(get("/fine"));
  serve(origin);
  CHECK(has(read_answer(client, "ok"), "200 OK"));
}

TEST_CASE("Plugin: a hook for one transaction runs behind the global ones, and for that one only", "[plugin][txn]") {
  Origin origin;
  Proxy proxy(origin);
  std::vector<std::string> calls;  // on the worker
  Cont local([&](TSCont, TSEvent event, TSHttpTxn txnp) {
    calls.push_back(std::string("local ") + TSHttpEventNameLookup(event));
    go_on(txnp);
  });
  int transactions = 0;
  Cont global([&](TSCont, TSEvent event, TSHttpTxn txnp) {
    calls.push_back(std::string("global ") + TSHttpEventNameLookup(event));
    if (event == TS_EVENT_HTTP_TXN_START && transactions++ == 0) {
      for (TSHttpHookID id : {TS_HTTP_TXN_START_HOOK, TS_HTTP_SEND_RESPONSE_HDR_HOOK, TS_HTTP_TXN_CLOSE_HOOK}) {
        CHECK(TSHttpTxnHookAdd(txnp, id, local.contp) == TS_SUCCESS);
      }
      CHECK(TSHttpTxnHookAdd(txnp, TS_HTTP_OS_DNS_HOOK, local.contp) == TS_ERROR);
      CHECK(TSHttpTxnHookAdd(txnp, TS_HTTP_TXN_CLOSE_HOOK, nullptr) == TS_ERROR);
    }
    go_on(txnp);
  });
  hook(proxy, TS_HTTP_TXN_START_HOOK, global);
  hook(proxy, TS_HTTP_TXN_CLOSE_HOOK, global);
  Peer client = proxy.client();
  for (int i = 0; i < 2; ++i) {
    client.send(get("/x"));
    serve(origin);
    read_answer(client, "ok");
  }
  client.close();
  proxy.all_ended(1);
  CHECK(calls == std::vector<std::string>{"global TS_EVENT_HTTP_TXN_START", "local TS_EVENT_HTTP_TXN_START",
                                          "local TS_EVENT_HTTP_SEND_RESPONSE_HDR", "global TS_EVENT_HTTP_TXN_CLOSE",
                                          "local TS_EVENT_HTTP_TXN_CLOSE", "global TS_EVENT_HTTP_TXN_START",
                                          "global TS_EVENT_HTTP_TXN_CLOSE"});
}

TEST_CASE("Plugin: hooks of a continuation that was destroyed are passed over", "[plugin][txn]") {
  Origin origin;
  Proxy proxy(origin);
  int calls = 0;
  Cont cont([&](TSCont contp, TSEvent, TSHttpTxn txnp) {
    ++calls;
    TSContDestroy(contp);
    CHECK(TSContDataGet(contp) == nullptr);
    go_on(txnp);
  });
  hook(proxy, TS_HTTP_READ_REQUEST_HDR_HOOK, cont);
  Peer client = proxy.client();
  for (int i = 0; i < 2; ++i) {
    client.send(get("/x"));
    serve(origin);
    CHECK(has(read_answer(client, "ok"), "200 OK"));
  }
  CHECK(calls == 1);
  cont.contp = nullptr;
}

TEST_CASE("Plugin: fields that are the proxy's own, and text that is no field, are refused", "[plugin][txn]") {
  Origin origin;
  Proxy proxy(origin);
  diag::Capture capture;
  Cont cont([&](TSCont, TSEvent, TSHttpTxn txnp) {
    TSMBuffer bufp;
    TSMLoc hdr, other = TS_NULL_MLOC;
    TSHttpTxnClientReqGet(txnp, &bufp, &hdr);
    for (const char* name : {"Content-Length", "transfer-encoding", "CONNECTION", "Keep-Alive", "Proxy-Connection", "TE", "Trailer",
                             "Upgrade", "Host", "Expect", "", "two words", "X:", "X\r\nY"}) {
      INFO(name);
      CHECK(append(bufp, hdr, name, "1") == TS_ERROR);
    }
    for (const char* value : {"a\r\nX-Forged: 1", "a\nb", "a\x01", "\x7f"}) CHECK(append(bufp, hdr, "X-Value", value) == TS_ERROR);
    TSMLoc host = TSMimeHdrFieldFind(bufp, hdr, "Host", -1);
    CHECK(TSMimeHdrFieldValueStringSet(bufp, hdr, host, -1, "evil", -1) == TS_ERROR);
    CHECK(TSMimeHdrFieldValuesClear(bufp, hdr, host) == TS_ERROR);
    CHECK(TSMimeHdrFieldRemove(bufp, hdr, host) == TS_ERROR);
    CHECK(TSMimeHdrFieldDestroy(bufp, hdr, host) == TS_ERROR);
    CHECK(TSMimeHdrFieldNameSet(bufp, hdr, host, "X-Host", -1) == TS_ERROR);
    CHECK(TSMimeHdrFieldAppend(bufp, hdr, host) == TS_ERROR);
    REQUIRE(TSMimeHdrFieldCreate(bufp, hdr, &other) == TS_SUCCESS);
    CHECK(TSMimeHdrFieldAppend(bufp, hdr, other) == TS_ERROR);  // no name
    CHECK(TSMimeHdrFieldValueStringSet(bufp, hdr, other, 3, "x", -1) == TS_ERROR);
    CHECK(TSHandleMLocRelease(bufp, hdr, other) == TS_SUCCESS);
    CHECK(TSMimeHdrFieldValueStringSet(bufp, hdr, other, -1, "x", -1) == TS_ERROR);  // released
    CHECK(TSMimeHdrFieldValueStringSet(bufp, hdr, hdr, -1, "x", -1) == TS_ERROR);    // no field
    CHECK(TSMimeHdrFieldFind(bufp, TS_NULL_MLOC, "Host", -1) == TS_NULL_MLOC);
    go_on(txnp);
  });
  hook(proxy, TS_HTTP_READ_REQUEST_HDR_HOOK, cont);
  Peer client = proxy.client();
  client.send(get("/x"));
  std::string forwarded;
  serve(origin, "", &forwarded);
  CHECK(has(read_answer(client, "ok"), "200 OK"));
  for (const char* never : {"Forged", "evil", "X-Value", "Content-Length", "Transfer-Encoding"}) CHECK_FALSE(has(forwarded, never));
}

TEST_CASE("Plugin: holds 1024 fields of a transaction and adds 64 KiB, and not one more", "[plugin][txn]") {
  Origin origin;
  Proxy proxy(origin);
  diag::Capture capture;
  Cont cont([&](TSCont, TSEvent, TSHttpTxn txnp) {
    TSMBuffer bufp;
    TSMLoc hdr, field = TS_NULL_MLOC;
    TSHttpTxnClientReqGet(txnp, &bufp, &hdr);
    int held = 0;
    while (TSMimeHdrFieldCreate(bufp, hdr, &field) == TS_SUCCESS) ++held;
    CHECK(held == 1024);
    CHECK(TSMimeHdrFieldFind(bufp, hdr, "Host", -1) == TS_NULL_MLOC);
    go_on(txnp);
  });
  Cont bytes([&](TSCont, TSEvent, TSHttpTxn txnp) {
    TSMBuffer bufp;
    TSMLoc hdr, field = TS_NULL_MLOC;
    TSHttpTxnClientRespGet(txnp, &bufp, &hdr);
    TSMimeHdrFieldCreateNamed(bufp, hdr, "X", 1, &field);
    CHECK(field == TS_NULL_MLOC);  // all are held
    go_on(txnp);
  });
  hook(proxy, TS_HTTP_READ_REQUEST_HDR_HOOK, cont);
  hook(proxy, TS_HTTP_SEND_RESPONSE_HDR_HOOK, bytes);
  Peer client = proxy.client();
  client.send(get("/x"));
  serve(origin);
  CHECK(has(read_answer(client, "ok"), "200 OK"));

  FieldList fields;
  CHECK(fields.book(FieldList::kBytesMax));
  CHECK_FALSE(fields.book(1));
  fields.clear();
  CHECK_FALSE(fields.book(FieldList::kBytesMax + 1));
}

TEST_CASE("Plugin: one that a stopping worker leaves suspended may answer late", "[plugin][txn]") {
  Origin origin;
  diag::Capture capture;
  std::atomic<TSHttpTxn> kept{nullptr};
  Cont cont([&](TSCont, TSEvent event, TSHttpTxn txnp) {
    if (event == TS_EVENT_HTTP_READ_REQUEST_HDR) kept = txnp;
    else go_on(txnp);
  });
  {
    Proxy proxy(origin);
    hook(proxy, TS_HTTP_READ_REQUEST_HDR_HOOK, cont);
    hook(proxy, TS_HTTP_TXN_CLOSE_HOOK, cont);
    Peer client = proxy.client();
    client.send(get("/x"));
    wait_until("the hook is called", [&] { return kept.load() != nullptr; });
    proxy.stop();
  }
  go_on(kept);
  CHECK(has(capture.text(), "TSHttpTxnReenable: the transaction has ended"));
}

TEST_CASE("Plugin: a transaction and its connection can be locked on", "[plugin][txn]") {
  Origin origin;
  Proxy proxy(origin);
  std::vector<int> seen;  // on the worker
  int n = 0;
  Cont cont([&](TSCont, TSEvent, TSHttpTxn txnp) {
    TSHttpSsn ssnp = TSHttpTxnSsnGet(txnp);
    int ssn_on = -1;
    CHECK(TSHttpSsnDebugGet(ssnp, &ssn_on) == TS_SUCCESS);
    seen.push_back(ssn_on * 10 + TSHttpTxnDebugGet(txnp));
    if (n == 0) TSHttpTxnDebugSet(txnp, 1);
    if (n == 1) TSHttpSsnDebugSet(ssnp, 1);
    bool locked = diag::current_context()->locked_on;
    CHECK(locked == (n <= 2));  // in force within the callback, and from the connection in the next transaction
    if (n == 2) TSHttpSsnDebugSet(ssnp, 0);
    ++n;
    go_on(txnp);
  });
  hook(proxy, TS_HTTP_READ_REQUEST_HDR_HOOK, cont);
  Peer client = proxy.client();
  for (int i = 0; i < 4; ++i) {
    client.send(get("/x"));
    serve(origin);
    read_answer(client, "ok");
  }
  CHECK(seen == std::vector<int>{0, 0, 11, 0});
}

}  // namespace telltale::plugin::test
