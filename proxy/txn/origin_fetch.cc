// SPDX-License-Identifier: Apache-2.0
#include "txn/origin_fetch.h"

#include <cstring>

#include <sys/socket.h>

#include <telltale/diag/dbg.h>

#include "http/print.h"
#include "http/print_dump.h"
#include "http/redaction.h"
#include "http1/chunk_encoder.h"
#include "http1/head_writer.h"
#include "http1/hop_by_hop.h"

namespace telltale::txn {
namespace {

constexpr DbgCtl origin_dbg{"origin"};
constexpr DbgCtl http_hdrs_dbg{"http_hdrs"};
constexpr DbgCtl http_body_dbg{"http_body"};

// How long an origin may think before a client's content is sent although nobody said 100 (Continue).
constexpr std::chrono::seconds kContinueMax{1};

// Interim responses to one request; each sets the time-out anew, so their number needs a bound.
constexpr int kInterimMax = 16;

constexpr std::string_view kClientWentAway = "the client went away while the answer was awaited";

using http::Content;
using http::Failure;
using http::Framing;

iovec part(std::string_view bytes) { return {const_cast<char*>(bytes.data()), bytes.size()}; }

}  // namespace

OriginFetch::OriginFetch(WorkerState& state, http::Exchange& exchange, const origin::Authority& origin,
                         std::string_view target, const http::Fields& fields, std::chrono::seconds inactivity_max)
    : state_(state), exchange_(exchange), origin_(origin), target_(target), fields_(fields), inactivity_max_(inactivity_max),
      upload_over_(state.worker) {}

OriginFetch::~OriginFetch() = default;

OriginFetch::Step OriginFetch::fail(Failure failure, std::uint16_t status, std::string_view reason) {
  failure_ = {failure, status, reason};
  return Step::kFailed;
}

// The connection ended before a response: worth another try only if it was an old one that may have been dead
// all along, and if doing the request twice is as good as once.
OriginFetch::Step OriginFetch::lost(Failure failure, std::string_view reason) {
  const http::RequestHead& request = exchange_.request();
  if (abandoned_) return fail(Failure::kHttpRequestError, 400, kClientWentAway);
  if (reused_ && !upload_begun_ && http::is_idempotent(request.method)) {
    Dbg(origin_dbg, "the reused connection was dead: trying once more on a new one");
    return Step::kRetry;
  }
  return fail(failure, 502, reason);
}

net::Task<tl::expected<void, FetchFailure>> OriginFetch::begin() {
  state_.counters.origin_requests.add();
  for (bool allow_reuse : {true, false}) {
    Step step = Step::kFailed;
    if (!abandoned_) step = co_await connect(allow_reuse);
    if (step == Step::kDone) step = co_await exchange_heads();
    if (step == Step::kDone) co_return tl::expected<void, FetchFailure>{};
    co_await end();
    if (step == Step::kFailed) break;
  }
  if (abandoned_) {
    Dbg(origin_dbg, "request to {}:{} given up: the client is gone", origin_.host, origin_.port);
    co_return tl::unexpected(failure_);
  }
  Dbg(origin_dbg, "no usable response from {}:{}: {} ({})", origin_.host, origin_.port, failure_.reason,
      http::failure_token(failure_.failure));
  co_return tl::unexpected(failure_);
}

// Whoever waits for the origin is woken by the end of its connection. While one is being opened nobody is: that has
// a time-out of its own.
void OriginFetch::abandon() noexcept {
  abandoned_ = true;
  if (connection_) ::shutdown(connection_->stream->fd(), SHUT_RDWR);
}

net::Task<OriginFetch::Step> OriginFetch::connect(bool allow_reuse) {
  if (allow_reuse) connection_ = state_.origins.take_idle(origin_);
  reused_ = connection_ != nullptr;
  if (!reused_) {
    auto made = co_await state_.origins.connect(origin_);
    if (!made) {
      bool late = made.error().failure == Failure::kConnectionTimeout || made.error().failure == Failure::kDnsTimeout;
      co_return fail(made.error().failure, late ? 504 : 502, "no connection to the origin");
    }
    connection_ = std::move(*made);
    state_.counters.origin_connections.add();
  }
  ++connection_->exchanges;
  connected_at_ = state_.worker.now();
  if (abandoned_) co_return fail(Failure::kHttpRequestError, 400, kClientWentAway);
  co_return Step::kDone;
}

net::Task<OriginFetch::Step> OriginFetch::exchange_heads() {
  if (!co_await send_head()) co_return lost(Failure::kConnectionTerminated, "the origin did not take the request");
  const http::RequestHead& request = exchange_.request();
  uploaded_ = request.framing.kind == Framing::kNone;
  for (int interim = 0;; ++interim) {
    if (!uploaded_ && !upload_begun_) {
      bool spoke = !connection_->input.empty();
      if (!spoke && request.expect_continue) spoke = co_await origin_speaks_within(kContinueMax);
      if (!spoke) upload();  // else what the origin says decides: a 100 starts it, another interim response does not
    }
    Step step = co_await read_head();
    answered_ = step == Step::kDone && !response_.interim();
    if (answered_) head_at_ = state_.worker.now();
    if (step != Step::kDone || answered_) co_return step;
    if (response_.status == 101) co_return fail(Failure::kHttpUpgradeFailed, 502, "the origin switched protocols unasked");
    if (interim == kInterimMax) co_return fail(Failure::kHttpProtocolError, 502, "the origin sent too many interim responses");
    Dbg(origin_dbg, "interim response {}", response_.status);
    if (response_.status == 100) {
      if (!uploaded_ && !upload_begun_) upload();
    } else {
      http1::strip_hop_by_hop(response_.fields);
      co_await exchange_.send_interim(response_.status, response_.fields);
    }
    connection_->input.unpin();
  }
}

net::Task<bool> OriginFetch::send_head() {
  const http::RequestHead& request = exchange_.request();
  std::string head;
  http1::append_request_head(head, request.method_text, target_, fields_, request.framing,
                             http1::ConnectionField::kNone);
  Dbg(origin_dbg, "sending {} {} to {}:{} on o{}", request.method_text, http::print_target(target_), origin_.host,
      origin_.port, connection_->id);
  Dbg(http_hdrs_dbg, "{}", http::dump_wire(http::Direction::kOriginRequest, request.target, head));
  iovec parts[] = {part(head)};
  net::Io io = co_await connection_->stream->send_all(parts, inactivity_max_);
  if (io.state != net::Io::kOk) Dbg(origin_dbg, "sending to o{} failed: {}", connection_->id, std::strerror(io.error));
  co_return io.state == net::Io::kOk;
}

net::Task<bool> OriginFetch::origin_speaks_within(std::chrono::seconds time) {
  connection_->stream->set_deadline(state_.worker.now() + time);
  co_return co_await connection_->stream->readable() == net::Wake::kReady;
}

net::Task<OriginFetch::Step> OriginFetch::read_head() {
  net::Stream& stream = *connection_->stream;
  http1::InputBuffer& input = connection_->input;
  http1::ResponseHeadParser& parser = connection_->parser;
  parser.set_limits(state_.response_limits);
  parser.reset(exchange_.request().method);
  if (!uploading_) stream.set_deadline(state_.worker.now() + inactivity_max_);

  http1::Parse parsed = input.empty() ? http1::Parse::kNeedMore : parser.parse(input.data(), response_);
  while (parsed == http1::Parse::kNeedMore) {
    net::Wake wake = co_await stream.readable();
    if (wake == net::Wake::kTimeout && uploading_) continue;  // the upload has its own view of time
    if (wake == net::Wake::kTimeout) {
      co_return fail(Failure::kHttpResponseTimeout, 504, "the origin did not answer in time");
    }
    if (wake == net::Wake::kShutdown) co_return fail(Failure::kProxyInternalError, 503, "the proxy is stopping");
    std::span<char> room = input.room();
    if (room.empty()) {  // the limits were changed since the block was taken
      parsed = http1::Parse::kTooLarge;
      break;
    }
    net::Io io = stream.recv(room);
    if (io.state == net::Io::kOk) {
      input.commit(io.bytes);
      parsed = parser.parse(input.data(), response_);
    } else if (io.state == net::Io::kClosed || io.state == net::Io::kError) {
      if (abandoned_) co_return fail(Failure::kHttpRequestError, 400, kClientWentAway);
      if (stalled_) co_return fail(Failure::kConnectionWriteTimeout, 504, "the origin did not take the request in time");
      if (client_ended_ == Content::kTimeout) co_return fail(Failure::kHttpRequestError, 408, "the request content did not arrive in time");
      if (client_ended_ != Content::kEnd) co_return fail(Failure::kHttpRequestError, 400, "the request content is malformed or incomplete");
      if (input.empty()) co_return lost(Failure::kConnectionTerminated, "the origin closed the connection without an answer");
      co_return fail(Failure::kHttpResponseIncomplete, 502, "the origin closed the connection in the middle of a response head");
    }
  }
  if (parsed == http1::Parse::kTooLarge) {
    co_return fail(Failure::kHttpResponseHeaderSectionSize, 502, "the origin's response head is too large");
  }
  if (parsed != http1::Parse::kDone) {
    Dbg(origin_dbg, "response head refused: {}", parser.reason());
    co_return fail(Failure::kHttpProtocolError, 502, "the origin's response head is malformed");
  }
  input.pin(parser.consumed());
  connection_->content.start(response_.framing);
  Dbg(origin_dbg, "o{} answered {}", connection_->id, http::print_status_line(response_));
  Dbg(http_hdrs_dbg, "{}", http::dump_response(http::Direction::kOriginResponse, exchange_.request().target, response_));
  co_return Step::kDone;
}

net::Detached OriginFetch::upload() {
  upload_begun_ = uploading_ = true;
  net::Stream& stream = *connection_->stream;
  stream.clear_deadline();  // while the client is slow, the origin is not late
  bool chunked = exchange_.request().framing.kind == Framing::kChunked;
  for (bool more = true; more;) {
    Content piece = co_await exchange_.read_content();
    if (piece.state != Content::kData && piece.state != Content::kEnd) {
      client_ended_ = piece.state;
      Dbg(origin_dbg, "the client's content ended early{}{}", piece.data.empty() ? "" : ": ", piece.data);
      ::shutdown(stream.fd(), SHUT_RDWR);  // half a request must not look like a whole one; wakes read_head()
      break;
    }
    more = piece.state == Content::kData;
    if (more) {
      Dbg(http_body_dbg, "to the origin: {}", http::print_body(piece.data, http::media_type(exchange_.request().fields), http::is_sensitive_path(exchange_.request().target)));
    }
    char size_line[http1::kChunkHeaderMax];
    iovec parts[3];
    std::size_t n = 0;
    if (chunked && more) parts[n++] = part(http1::chunk_header(piece.data.size(), size_line));
    if (more) parts[n++] = part(piece.data);
    if (chunked) parts[n++] = part(more ? http1::kChunkEnd : http1::kLastChunk);
    if (n != 0) {
      net::Io io = co_await stream.send_all({parts, n}, inactivity_max_);
      if (io.state != net::Io::kOk) {
        // The origin may have answered and stopped reading; read_head() finds out.
        Dbg(origin_dbg, "the origin stopped taking the request: {}", std::strerror(io.error));
        stalled_ = io.error == ETIMEDOUT;
        if (stalled_) ::shutdown(stream.fd(), SHUT_RDWR);
        break;
      }
      stream.clear_deadline();
    }
    uploaded_ = !more;
  }
  uploading_ = false;
  stream.set_deadline(state_.worker.now() + inactivity_max_);
  upload_over_.open();
}

// Empty: the exchange came to a clean end, the connection is good for another one.
std::string_view OriginFetch::why_not_kept() const noexcept {
  const origin::Connection& c = *connection_;
  if (abandoned_) return kClientWentAway;
  if (!answered_) return "it gave no answer";
  if (!uploaded_) return "the request was not sent to its end";
  if (response_.framing.kind == Framing::kUntilClose) return "its end ends the content";
  if (!c.content.complete()) return "the content was not read to its end";
  if (!response_.keep_alive) return "the origin does not keep it";
  if (!c.input.empty()) return "the origin sent more than its answer";
  if (c.stream->peer_gone()) return "the origin ended it";
  return {};
}

net::Task<void> OriginFetch::end() {
  if (!connection_) co_return;
  if (uploading_) {
    exchange_.stop_reading();
    ::shutdown(connection_->stream->fd(), SHUT_RDWR);
    co_await upload_over_.wait();
    while (uploading_) co_await state_.worker.yield();  // a stopping worker passes the gate early
  }
  const std::string_view why = why_not_kept();
  if (why.empty()) {
    state_.origins.give_back(origin_, std::move(connection_));
  } else {
    Dbg(origin_dbg, "connection o{} closed: {}", connection_->id, why);
    connection_.reset();
  }
  answered_ = upload_begun_ = false;
}

}  // namespace telltale::txn
