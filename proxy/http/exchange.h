// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a transaction needs of its client's protocol: one request, one response. HTTP/1.1 sessions and HTTP/2
// streams implement it; a transaction never knows which one it has.
//
//   order of calls:  read_content()*   any time, until kEnd
//                    send_interim()*   before the final head
//                    send_prepared()                         a stored response, head and content in one call, or
//                    send_head() (send_content())* finish()  a response that streams
//                    abort()           at any time instead: the client must not take what it got for whole
//
// A send that returns false means that the client is gone or too slow; further sends do nothing and return
// false. Reading and sending may be awaited by two coroutines at once, each direction by one.
//
// **Thread safety:** loop-bound.

#include <chrono>
#include <cstdint>
#include <string_view>

#include <telltale/diag/scope.h>

#include "http/request_head.h"
#include "http/response_head.h"
#include "net/endpoint.h"
#include "net/task.h"

namespace telltale::http {

// A piece of a message's content, or why there is none.
struct Content {
  enum State : std::uint8_t {
    kData,       // `data` is not empty; it lives until the next read
    kEnd,        // the content is complete
    kBroken,     // the peer went away before the end
    kTimeout,    // the peer sent nothing for too long
    kMalformed,  // the framing is wrong; `data` is a fixed sentence that says how
    kShutdown,   // the worker is stopping
  };
  State state;
  std::string_view data = {};
};

// A response that was made ready to send when it was stored; see cache/stored_response.h.
struct PreparedResponse {
  std::uint16_t status;
  const Fields& fields;         // without Age, framing and hop-by-hop fields
  std::string_view http1_head;  // the same as bytes, with Content-Length, without Age, Connection and the empty line
  std::string_view content;
  std::chrono::seconds age;
};

// Told once when an exchange's client no longer wants the answer, so that whoever waits for an origin need not.
class ClientWatcher {
 public:
  // Must not resume a coroutine within the call.
  virtual void client_gone() noexcept = 0;

 protected:
  ~ClientWatcher() = default;
};

class Exchange {
 public:
  virtual ~Exchange() = default;

  virtual RequestHead& request() noexcept = 0;
  virtual const net::Endpoint& client() const noexcept = 0;
  // The scope of the client's connection, which later exchanges on it begin with; null: it has none of its own.
  virtual diag::Context* connection_context() noexcept { return nullptr; }

  // A client that expects 100 (Continue) gets it from the first read, unless content is there already.
  virtual net::Task<Content> read_content() = 0;
  // The request's content has been read to its end (true for a request without content).
  virtual bool content_complete() const noexcept = 0;

  virtual net::Task<bool> send_interim(std::uint16_t status, const Fields& fields) = 0;
  // Sends the content only if the request's method has any in its response.
  virtual net::Task<bool> send_prepared(const PreparedResponse& response) = 0;
  // The head may wait to travel with the first content; flush() sends what waits. The framing towards the
  // client is the exchange's own: head.framing says what is known of the length.
  virtual net::Task<bool> send_head(const ResponseHead& head) = 0;
  virtual net::Task<bool> send_content(std::string_view data) = 0;
  virtual net::Task<bool> flush() = 0;
  virtual net::Task<bool> finish() = 0;
  virtual void abort() noexcept = 0;
  // Makes a pending read_content() return kBroken soon.
  virtual void stop_reading() noexcept = 0;
  // Before the final head: what is left of the request's content will not be read. HTTP/1.1 says so to the client.
  virtual void end_after_answer() noexcept {}

  // Who is to be told, once, that the client is gone; null: nobody any more. Where it is gone already he is told at
  // once. A client that only ends its sending side is not gone. HTTP/1.1 watches until the final head is sent; from
  // there sending tells.
  virtual void watch_client(ClientWatcher* watcher) noexcept = 0;
  // As far as it is known. Over HTTP/1.1 only while the client is watched, or once sending to it failed.
  virtual bool client_gone() const noexcept = 0;
  // After a send returned false: what became of the client, a fixed text.
  virtual std::string_view why_unsent() const noexcept = 0;

  virtual bool head_sent() const noexcept = 0;            // a final head went out, whole or in part
  virtual std::uint64_t content_bytes_sent() const noexcept = 0;
};

// Who answers: called once per request, on the exchange's worker, in the scope of its connection.
class Handler {
 public:
  virtual ~Handler() = default;
  virtual net::Task<void> serve(Exchange& exchange) = 0;
};

}  // namespace telltale::http
