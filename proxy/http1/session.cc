// SPDX-License-Identifier: Apache-2.0
#include "http1/session.h"

#include <charconv>
#include <cstring>

#include <telltale/diag/dbg.h>

#include "http/preface.h"
#include "http/print.h"
#include "http/status.h"
#include "http1/chunk_encoder.h"
#include "net/worker.h"

namespace telltale::http1 {
namespace {

constexpr DbgCtl http1_dbg{"http1"};

constexpr std::size_t kPipelinedPerTurn = 32;  // then others on this worker get their turn
constexpr std::uint64_t kLingerBytesMax = 256 * 1024;
constexpr std::chrono::seconds kLingerMax{2};

iovec part(std::string_view bytes) { return {const_cast<char*>(bytes.data()), bytes.size()}; }

}  // namespace

Session::Session(std::unique_ptr<net::Stream> stream, http::Handler& handler, const SessionSettings& settings,
                 BlockPool& blocks, std::uint64_t connection_id)
    : stream_(std::move(stream)),
      handler_(handler),
      settings_(settings),
      input_(blocks),
      parser_(settings.head),
      content_(*stream_, input_) {
  client_.address = stream_->peer().address_bytes();
  context_.connection = connection_id;
  context_.client = &client_;
}

Session::~Session() = default;

net::Task<void> Session::run() {
  diag::Scope scope(&context_);
  Dbg(http1_dbg, "connection from {} accepted", stream_->peer());
  for (;;) {
    Next next = co_await read_head();
    if (next == Next::kHttp2) co_return;
    if (next == Next::kEnd) break;
    begin_exchange();
    co_await handler_.serve(*this);
    if (!reusable_at_once()) {
      bool more = co_await end_exchange();
      if (!more) break;
    }
    input_.unpin();
    if (!input_.empty() && requests_ % kPipelinedPerTurn == 0) co_await stream_->worker().yield();
  }
  Dbg(http1_dbg, "connection closed; requests: {}, bytes in: {}, out: {}", requests_, stream_->bytes_in(),
      stream_->bytes_out());
}

// Half a preface waits for its rest like half a head.
Parse Session::parse_head() {
  if (may_be_http2_) [[unlikely]] {
    const http::Preface preface = http::match_preface(input_.data());
    speaks_http2_ = preface == http::Preface::kWhole;
    if (speaks_http2_) return Parse::kDone;
    if (preface == http::Preface::kPart) return Parse::kNeedMore;
    may_be_http2_ = false;
  }
  return parser_.parse(input_.data(), request_);
}

// Reads until a whole head is there. Answers what cannot be a request itself.
net::Task<Session::Next> Session::read_head() {
  parser_.set_limits(settings_.head);
  parser_.reset();
  Parse parsed = input_.empty() ? Parse::kNeedMore : parse_head();
  bool started = !input_.empty();
  stream_->set_deadline(stream_->worker().now() + (started ? settings_.request_head_max : settings_.keep_alive_max));

  while (parsed == Parse::kNeedMore) {
    if (input_.empty()) input_.release();  // an idle connection holds no memory
    net::Wake wake;
    if (started) {
      wake = co_await stream_->readable();
    } else {
      wake = co_await stream_->idle_readable();
    }
    if (wake != net::Wake::kReady) {
      if (!started) {
        Dbg(http1_dbg, "idle connection ended: {}", wake == net::Wake::kTimeout ? "keep-alive time is over" : "stopping");
        co_return Next::kEnd;
      }
      Dbg(http1_dbg, "request head incomplete after {} bytes: {}", input_.data().size(),
          wake == net::Wake::kTimeout ? "refused with 408, out of time" : "stopping");
      if (wake == net::Wake::kTimeout) co_await refuse_with(408, "the request head did not arrive in time");
      co_return Next::kEnd;
    }
    std::span<char> room = input_.room();
    if (room.empty()) {  // the limit was raised since this block was taken
      Dbg(http1_dbg, "request refused with 431: its head fills the buffer");
      co_await refuse_with(431, "the request head is too large");
      co_return Next::kEnd;
    }
    net::Io io = stream_->recv(room);
    if (io.state == net::Io::kOk) {
      input_.commit(io.bytes);
      if (!started) {
        started = true;
        stream_->set_deadline(stream_->worker().now() + settings_.request_head_max);
      }
      parsed = parse_head();
    } else if (io.state == net::Io::kClosed || io.state == net::Io::kError) {
      if (parser_.started(input_.data())) Dbg(http1_dbg, "client closed in the middle of a request head");
      co_return Next::kEnd;
    }
  }
  if (speaks_http2_) co_return Next::kHttp2;
  if (parsed == Parse::kDone) {
    ++requests_;
    input_.pin(parser_.consumed());
    co_return Next::kRequest;
  }
  Dbg(http1_dbg, "request refused with {}: {}", parser_.status(), parser_.reason());
  co_await refuse_with(static_cast<std::uint16_t>(parser_.status()), parser_.reason());
  co_return Next::kEnd;
}

void Session::begin_exchange() {
  content_.start(request_.framing);
  pending_.clear();
  head_sent_ = chunked_ = content_wanted_ = continue_sent_ = reading_stopped_ = false;
  content_bytes_sent_ = 0;
  close_after_ = !request_.keep_alive;
}

bool Session::reusable_at_once() const noexcept {
  return !broken_ && !client_gone_ && !close_after_ && content_.complete();
}

// Makes the connection ready for the next request, or says that there is none.
net::Task<bool> Session::end_exchange() {
  if (broken_ || client_gone_) {
    Dbg(http1_dbg, "connection reset: {}", client_gone_ ? "the client is gone or too slow" : "the response could not be completed");
    stream_->close_with_reset();
    co_return false;
  }
  std::uint64_t bytes_read = content_.bytes();
  while (!close_after_ && !content_.complete()) {
    http::Content piece = co_await content_.next(settings_.client_inactivity_max);
    if (piece.state == http::Content::kEnd) break;
    if (piece.state != http::Content::kData || content_.bytes() - bytes_read > settings_.drain_bytes_max) close_after_ = true;
  }
  if (close_after_) {
    if (!content_.complete() || !input_.empty()) co_await linger();
    co_return false;
  }
  co_return true;
}

// The client may still be sending. Closing now would reset the connection, and a reset can destroy the
// response before the client has read it; so our side ends first, and what comes in is thrown away for a while.
net::Task<void> Session::linger() {
  stream_->shutdown_write();
  stream_->set_deadline(stream_->worker().now() + kLingerMax);
  char waste[16 * 1024];
  for (std::uint64_t bytes = 0; bytes < kLingerBytesMax;) {
    if (co_await stream_->readable() != net::Wake::kReady) break;
    net::Io io = stream_->recv(waste);
    if (io.state == net::Io::kClosed || io.state == net::Io::kError) break;
    bytes += io.bytes;
  }
}

// For what never became a request: one line of text, then the end of the connection.
net::Task<void> Session::refuse_with(std::uint16_t status, std::string_view why) {
  pending_.clear();
  append_simple_response(pending_, {.status = status, .text = why, .failure = http::Failure::kHttpRequestError});
  iovec parts[] = {part(pending_)};
  net::Io io = co_await stream_->send_all(parts, settings_.client_inactivity_max);
  if (io.state == net::Io::kOk) co_await linger();
}

net::Task<http::Content> Session::read_content() {
  if (reading_stopped_) co_return http::Content{http::Content::kBroken};
  if (request_.expect_continue && !continue_sent_ && !head_sent_ && !content_.complete() && !content_.buffered()) {
    co_await send_interim(100, {});
  }
  http::Content piece = co_await content_.next(settings_.client_inactivity_max);
  if (reading_stopped_ && piece.state == http::Content::kTimeout) piece = {http::Content::kBroken};
  co_return piece;
}

// Whoever waits for content is woken by the next tick at the latest.
void Session::stop_reading() noexcept {
  close_after_ = true;
  reading_stopped_ = true;
  stream_->set_deadline(stream_->worker().now());
}

net::Task<bool> Session::send_interim(std::uint16_t status, const http::Fields& fields) {
  if (request_.version == http::Version::kHttp10) co_return true;  // such a client does not know them
  if (status == 100) {
    if (continue_sent_) co_return true;
    continue_sent_ = true;
  }
  std::string head;
  append_response_head(head, status, {}, fields, {}, ConnectionField::kNone);
  iovec parts[] = {part(head)};
  co_return co_await send_parts(parts);
}

ConnectionField Session::connection_field() const noexcept {
  if (close_after_) return ConnectionField::kClose;
  return request_.version == http::Version::kHttp10 ? ConnectionField::kKeepAlive : ConnectionField::kNone;
}

// Decides, before a final head goes out, whether the connection goes on afterwards.
void Session::begin_response(bool framed) {
  head_sent_ = true;
  if (!framed || stream_->worker().stopping()) close_after_ = true;
  // A client that waits for a 100 it will not get may or may not send its content.
  if (!content_.complete() && request_.expect_continue && !continue_sent_) close_after_ = true;
}

net::Task<bool> Session::send_prepared(const http::PreparedResponse& response) {
  begin_response(true);
  char tail[64];
  char* at = tail;
  auto put = [&at](std::string_view text) {
    std::memcpy(at, text.data(), text.size());
    at += text.size();
  };
  put("Age: ");
  at = std::to_chars(at, at + 20, response.age.count()).ptr;
  switch (connection_field()) {
    case ConnectionField::kClose: put("\r\nConnection: close\r\n\r\n"); break;
    case ConnectionField::kKeepAlive: put("\r\nConnection: keep-alive\r\n\r\n"); break;
    case ConnectionField::kNone: put("\r\n\r\n"); break;
  }
  bool with_content = request_.method != http::Method::kHead && !response.content.empty();
  iovec parts[] = {part(response.http1_head), part({tail, static_cast<std::size_t>(at - tail)}), part(response.content)};
  if (with_content) content_bytes_sent_ = response.content.size();
  std::span<iovec> all(parts, with_content ? 3 : 2);
  // Nearly always the socket takes everything at once.
  std::size_t bytes = parts[0].iov_len + parts[1].iov_len + content_bytes_sent_;
  net::Io io = stream_->send(all);
  if (io.state == net::Io::kOk && io.bytes == bytes) co_return true;
  if (io.state == net::Io::kOk) all = net::past(all, io.bytes);
  co_return co_await send_parts(all);
}

net::Task<bool> Session::send_head(const http::ResponseHead& head) {
  http::Framing framing = head.framing;
  bool no_content = request_.method == http::Method::kHead || framing.kind == http::Framing::kNone;
  chunked_ = false;
  if (!no_content && framing.kind != http::Framing::kLength) {
    chunked_ = request_.version != http::Version::kHttp10;
    framing = {chunked_ ? http::Framing::kChunked : http::Framing::kUntilClose};
  }
  content_wanted_ = !no_content;
  begin_response(no_content || framing.kind != http::Framing::kUntilClose);
  append_response_head(pending_, head.status, head.reason, head.fields, framing, connection_field());
  co_return !client_gone_;
}

net::Task<bool> Session::send_content(std::string_view data) {
  if (!content_wanted_ || data.empty()) co_return !client_gone_;
  content_bytes_sent_ += data.size();
  char size_line[kChunkHeaderMax];
  iovec parts[4];
  std::size_t n = 0;
  if (!pending_.empty()) parts[n++] = part(pending_);
  if (chunked_) parts[n++] = part(chunk_header(data.size(), size_line));
  parts[n++] = part(data);
  if (chunked_) parts[n++] = part(kChunkEnd);
  bool sent = co_await send_parts({parts, n});
  pending_.clear();
  co_return sent;
}

net::Task<bool> Session::flush() {
  if (pending_.empty()) co_return !client_gone_;
  iovec parts[] = {part(pending_)};
  bool sent = co_await send_parts(parts);
  pending_.clear();
  co_return sent;
}

net::Task<bool> Session::finish() {
  if (chunked_ && content_wanted_) pending_.append(kLastChunk);
  co_return co_await flush();
}

net::Task<bool> Session::send_parts(std::span<iovec> parts) {
  if (client_gone_) co_return false;
  net::Io io = co_await stream_->send_all(parts, settings_.client_inactivity_max);
  if (io.state != net::Io::kOk) {
    Dbg(http1_dbg, "sending to the client failed: {}", std::strerror(io.error));
    client_gone_ = true;
  }
  co_return !client_gone_;
}

}  // namespace telltale::http1
