// SPDX-License-Identifier: Apache-2.0
#pragma once
// One HTTP/2 stream: a request and its response, as a transaction sees them. It belongs to its Session, which feeds
// it what the client sends and asks it for content when the client's windows have room.
//
// Neither direction buffers beyond its bound: request content waits here up to the stream's window, which is opened
// again only for what has been taken; of response content the stream holds a view of the piece that its sender is
// suspended with.
//
//   it ends    | when its coroutine has ended, and nghttp2 has closed the stream
//
// **Thread safety:** loop-bound. **Source:** RFC 9113 sections 5.1, 6.9 and 8.1.

#include <cstdint>
#include <string>
#include <string_view>

#include <nghttp2/nghttp2.h>

#include "http/exchange.h"
#include "http2/request_fields.h"
#include "net/clock.h"
#include "net/waiter.h"

namespace telltale::http2 {

class Session;

class Stream final : public http::Exchange {
 public:
  Stream() = default;

  http::RequestHead& request() noexcept override { return request_; }
  const net::Endpoint& client() const noexcept override;
  diag::Context* connection_context() noexcept override;
  net::Task<http::Content> read_content() override;
  bool content_complete() const noexcept override { return request_ended_ && incoming_.empty(); }
  net::Task<bool> send_interim(std::uint16_t status, const http::Fields& fields) override;
  net::Task<bool> send_prepared(const http::PreparedResponse& response) override;
  net::Task<bool> send_head(const http::ResponseHead& head) override;
  net::Task<bool> send_content(std::string_view data) override;
  net::Task<bool> flush() override { co_return !gone_; }  // what waits goes out with this turn of the loop
  net::Task<bool> finish() override;
  void abort() noexcept override;
  void stop_reading() noexcept override;
  void watch_client(http::ClientWatcher* watcher) noexcept override;
  bool client_gone() const noexcept override { return gone_; }
  std::string_view why_unsent() const noexcept override { return slow_ ? "the client took no byte for too long" : "the client is gone"; }
  bool head_sent() const noexcept override { return head_sent_; }
  std::uint64_t content_bytes_sent() const noexcept override { return content_bytes_sent_; }

 private:
  friend class Session;
  friend struct Callbacks;

  struct Wait {
    net::Waiter& waiter;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> coroutine) const noexcept { waiter.suspend(coroutine); }
    net::Wake await_resume() const noexcept { return waiter.reason(); }
  };

  // For the session.
  void open(Session& session, std::int32_t id) noexcept;
  void close() noexcept;  // after it nothing of the request is left
  void answer(const Refused& refused);
  void lose() noexcept;
  void expire(net::SteadyTime now) noexcept;
  net::SteadyTime deadline() const noexcept;
  std::size_t unread_bytes() const noexcept { return incoming_.size() + lent_.size(); }
  void take_content(std::string_view data) { incoming_.append(data); }

  bool submit(std::uint16_t status, const http::Fields& fields, http::Framing framing, std::string_view age, bool copy);
  net::Task<bool> packed();
  void ready_to_send() noexcept;

  Session* session_ = nullptr;
  std::int32_t id_ = 0;

  // The request.
  RequestFields block_;
  http::RequestHead request_;
  std::string incoming_;  // content that nobody has read
  std::string lent_;      // the piece that was read last
  net::Waiter reader_;
  net::SteadyTime read_deadline_ = net::kNever;
  bool head_ended_ = false;     // its field block is complete
  bool request_ended_ = false;  // END_STREAM came
  bool reading_stopped_ = false;
  bool reading_late_ = false;
  bool continue_sent_ = false;

  // The response.
  std::string_view pending_;  // content to be packed into frames
  std::string text_;          // content of our own answer
  net::Waiter sender_;
  net::SteadyTime send_deadline_ = net::kNever;
  std::uint64_t announced_left_ = 0;  // bytes of announced content that are not pending yet
  std::uint64_t content_bytes_sent_ = 0;
  bool length_known_ = false;
  bool content_wanted_ = false;
  bool head_sent_ = false;
  bool head_packed_ = false;
  bool ending_ = false;          // nothing follows what is pending
  bool response_ended_ = false;  // END_STREAM was packed
  bool deferred_ = false;        // nghttp2 waits for content

  // Of both.
  http::ClientWatcher* watcher_ = nullptr;
  std::size_t place_ = 0;  // in the session's list
  bool slow_ = false;      // why gone_
  bool gone_ = false;      // the client does not want it any more, or we gave it up
  bool reset_ = false;     // we sent RST_STREAM
  bool refused_ = false;   // for a frame that a line was written about
  bool closed_ = false;    // nghttp2 knows the stream no more
  bool done_ = false;      // no coroutine
  bool start_ = false, wake_reader_ = false, wake_sender_ = false, due_ = false;  // what the session does next
};

}  // namespace telltale::http2
