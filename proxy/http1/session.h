// SPDX-License-Identifier: Apache-2.0
#pragma once
// A client connection that speaks HTTP/1.1: reads requests one after another, has each answered by the
// handler, and writes the answers. Reads top to bottom like the life of a connection; see run().
//
// Framing towards the client is decided here and never copied from an origin: Content-Length where the length
// is known, chunked where it is not, end of connection for HTTP/1.0. A response that cannot be completed is
// ended by a reset, so that it cannot pass for whole.
//
// **Thread safety:** loop-bound. **Source:** RFC 9112; RFC 9110, section 10.1.1 (Expect).

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include <telltale/diag/scope.h>

#include "http/exchange.h"
#include "http1/content_reader.h"
#include "http1/head_parser.h"
#include "http1/head_writer.h"
#include "http1/input_buffer.h"
#include "net/stream.h"

namespace telltale::http1 {

// What a session obeys; changed in place by the worker when configuration changes.
struct SessionSettings {
  HeadLimits head;
  std::chrono::seconds keep_alive_max{120};         // idle between requests
  std::chrono::seconds request_head_max{30};        // from the first byte of a head to its last
  std::chrono::seconds client_inactivity_max{30};   // without a byte moving, in either direction
  std::uint64_t drain_bytes_max = 64 * 1024;        // of unread content, to keep the connection
};

class Session final : public http::Exchange, private net::PeerWatcher {
 public:
  // All but the stream must outlive the session.
  Session(std::unique_ptr<net::Stream> stream, http::Handler& handler, const SessionSettings& settings, BlockPool& blocks,
          std::uint64_t connection_id);
  ~Session() override;

  // Serves the connection to its end, or until it turns out to speak HTTP/2.
  net::Task<void> run();

  // After run(): the connection began with HTTP/2's preface. Then the stream may be taken, and what was received on
  // it, the preface included, lives as long as the session.
  bool speaks_http2() const noexcept { return speaks_http2_; }
  std::unique_ptr<net::Stream> take_stream() noexcept { return std::move(stream_); }
  std::string_view received() const noexcept { return input_.data(); }

  http::RequestHead& request() noexcept override { return request_; }
  const net::Endpoint& client() const noexcept override { return stream_->peer(); }
  diag::Context* connection_context() noexcept override { return &context_; }
  net::Task<http::Content> read_content() override;
  bool content_complete() const noexcept override { return content_.complete(); }
  net::Task<bool> send_interim(std::uint16_t status, const http::Fields& fields) override;
  net::Task<bool> send_prepared(const http::PreparedResponse& response) override;
  net::Task<bool> send_head(const http::ResponseHead& head) override;
  net::Task<bool> send_content(std::string_view data) override;
  net::Task<bool> flush() override;
  net::Task<bool> finish() override;
  void abort() noexcept override { broken_ = true; }
  void stop_reading() noexcept override;
  void end_after_answer() noexcept override { close_after_ = true; }
  void watch_client(http::ClientWatcher* watcher) noexcept override;
  bool client_gone() const noexcept override { return client_gone_; }
  std::string_view why_unsent() const noexcept override { return why_gone_; }
  bool head_sent() const noexcept override { return head_sent_; }
  std::uint64_t content_bytes_sent() const noexcept override { return content_bytes_sent_; }

 private:
  // For the watch; see watch_client().
  void peer_ended() noexcept override;
  void peer_lost() noexcept override;
  void look() noexcept override;

  enum class Next : std::uint8_t {
    kMore,     // wait for bytes
    kRequest,  // a whole head is there
    kRefuse,   // what is there is none: see refusal_
    kHttp2,
    kEnd,
  };
  struct Refusal {
    std::uint16_t status = 400;
    std::string_view why;  // fixed, or the parser's
  };

  Next begin_head();
  Next take_head(net::Wake wake);
  Next parse_head();
  Next refuse(std::uint16_t status, std::string_view why);
  bool reusable_at_once() const noexcept;
  net::Task<bool> end_exchange();
  net::Task<void> send_refusal();
  net::Task<void> linger();
  void begin_exchange();
  void begin_response(bool framed);
  ConnectionField connection_field() const noexcept;
  net::Task<bool> send_parts(std::span<iovec> parts);
  net::Task<bool> send_rest(std::array<iovec, 3> parts, std::size_t count, std::size_t sent);

  // Constant after construction, but for a stream that is taken.
  std::unique_ptr<net::Stream> stream_;
  http::Handler& handler_;
  const SessionSettings& settings_;
  diag::Client client_;
  diag::Context context_;

  // Of the connection.
  InputBuffer input_;
  RequestHeadParser parser_;
  ContentReader content_;
  std::uint64_t requests_ = 0;
  bool may_be_http2_ = true;  // nothing has come yet that says otherwise
  bool speaks_http2_ = false;
  bool close_after_ = false;  // no further request on this connection
  bool broken_ = false;       // reset instead of a clean end
  bool head_begun_ = false;   // the next head has: the connection is not idle
  Refusal refusal_;
  std::string_view why_closed_ = "the client ended it";  // fixed

  // Of the exchange.
  http::RequestHead request_;
  std::string pending_;       // head bytes that wait for content or flush()
  bool head_sent_ = false;
  bool client_gone_ = false;
  std::string_view why_gone_;  // fixed
  http::ClientWatcher* watcher_ = nullptr;
  bool chunked_ = false;
  bool content_wanted_ = false;  // the response has content on the wire
  bool continue_sent_ = false;
  bool reading_stopped_ = false;
  std::uint64_t content_bytes_sent_ = 0;
  char prepared_end_[64];     // of a prepared head: Age, Connection
};

}  // namespace telltale::http1
