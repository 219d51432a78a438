// SPDX-License-Identifier: Apache-2.0
#include "http1/session.h"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include <telltale/diag/dbg.h>

#include "http/own_answer.h"
#include "http/preface.h"
#include "http/print.h"
#include "http/print_dump.h"
#include "http1/chunk_encoder.h"
#include "net/worker.h"

namespace telltale::http1 {
namespace {

constexpr DbgCtl http1_dbg{"http1"};
constexpr DbgCtl http_hdrs_dbg{"http_hdrs"};

constexpr std::size_t kPipelinedPerTurn = 32;  // then others on this worker get their turn
constexpr std::uint64_t kLingerBytesMax = 256 * 1024;
constexpr std::chrono::seconds kLingerMax{2};
constexpr std::chrono::seconds kLookEvery{2};  // whether a client that ended its sending side still reads

constexpr std::string_view kGone = "the client is gone";

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
    Next next = begin_head();
    while (next == Next::kMore) {
      net::Wake wake;
      if (head_begun_) {
        wake = co_await stream_->readable();
      } else {
        wake = co_await stream_->idle_readable();
      }
      next = take_head(wake);
    }
    if (next == Next::kHttp2) co_return;
    if (next == Next::kRefuse) co_await send_refusal();
    if (next != Next::kRequest) break;
    begin_exchange();
    co_await handler_.serve(*this);
    if (!reusable_at_once()) {
      bool more = co_await end_exchange();
      if (!more) break;
    }
    input_.unpin();
    if (!input_.empty() && requests_ % kPipelinedPerTurn == 0) co_await stream_->worker().yield();
  }
  Dbg(http1_dbg, "connection closed: {}; requests: {}, bytes in: {}, out: {}", why_closed_, requests_, stream_->bytes_in(),
      stream_->bytes_out());
}

// A request may have come along with the one before.
Session::Next Session::begin_head() {
  parser_.set_limits(settings_.head);
  parser_.reset();
  head_begun_ = !input_.empty();
  stream_->set_deadline(stream_->worker().now() + (head_begun_ ? settings_.request_head_max : settings_.keep_alive_max));
  if (head_begun_) return parse_head();
  input_.release();  // an idle connection holds no memory
  return Next::kMore;
}

Session::Next Session::take_head(net::Wake wake) {
  if (wake != net::Wake::kReady) {
    bool late = wake == net::Wake::kTimeout;
    if (!head_begun_) {
      why_closed_ = late ? "it was idle for too long" : "the worker is stopping";
      return Next::kEnd;
    }
    why_closed_ = "the worker is stopping";
    Dbg(http1_dbg, "request head incomplete after {} bytes: {}", input_.data().size(), late ? "out of time" : "stopping");
    return late ? refuse(408, "the request head did not arrive in time") : Next::kEnd;
  }
  std::span<char> room = input_.room();
  if (room.empty()) return refuse(431, "the request head fills the buffer");  // the limit was raised since this block was taken
  net::Io io = stream_->recv(room);
  if (io.state == net::Io::kOk) {
    input_.commit(io.bytes);
    if (!head_begun_) {
      head_begun_ = true;
      stream_->set_deadline(stream_->worker().now() + settings_.request_head_max);
    }
    return parse_head();
  }
  if (io.state == net::Io::kClosed || io.state == net::Io::kError) {
    if (parser_.started(input_.data())) why_closed_ = "the client ended it in the middle of a request head";
    if (io.state == net::Io::kError) why_closed_ = "the client reset it";
    return Next::kEnd;
  }
  if (!head_begun_) input_.release();
  return Next::kMore;
}

// Half a preface of HTTP/2 waits for its rest like half a head.
Session::Next Session::parse_head() {
  if (may_be_http2_) [[unlikely]] {
    const http::Preface preface = http::match_preface(input_.data());
    speaks_http2_ = preface == http::Preface::kWhole;
    if (speaks_http2_) return Next::kHttp2;
    if (preface == http::Preface::kPart) return Next::kMore;
    may_be_http2_ = false;
  }
  const Parse parsed = parser_.parse(input_.data(), request_);
  if (parsed == Parse::kNeedMore) return Next::kMore;
  if (parsed == Parse::kTooLarge) {
    Dbg(http1_dbg, "the head may have {} bytes (proxy.config.http.request_header_max_size) and {} fields (proxy.config.telltale.http.header_field_count_max)",
        settings_.head.bytes_max, settings_.head.fields_max);
  } else if (parsed == Parse::kBad && parser_.bad_field_number() != 0) {
    Dbg(http1_dbg, "field {} of the head is wrong", parser_.bad_field_number());
  }
  if (parsed != Parse::kDone) return refuse(static_cast<std::uint16_t>(parser_.status()), parser_.reason());
  ++requests_;
  input_.pin(parser_.consumed());
  return Next::kRequest;
}

Session::Next Session::refuse(std::uint16_t status, std::string_view why) {
  Dbg(http1_dbg, "request refused with {}: {}", status, why);
  why_closed_ = "its request was refused";
  refusal_ = {status, why};
  return Next::kRefuse;
}

void Session::begin_exchange() {
  content_.start(request_.framing);
  pending_.clear();
  watcher_ = nullptr;
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
    why_closed_ = client_gone_ ? why_gone_ : "reset, for the response could not be completed";
    stream_->close_with_reset();
    co_return false;
  }
  why_closed_ = request_.keep_alive ? "what is left of the request's content is not waited for" : "the client asked for it";
  std::uint64_t bytes_read = content_.bytes();
  while (!close_after_ && !content_.complete()) {
    http::Content piece = co_await content_.next(settings_.client_inactivity_max);
    if (piece.state == http::Content::kEnd) break;
    if (piece.state != http::Content::kData || content_.bytes() - bytes_read > settings_.drain_bytes_max) close_after_ = true;
  }
  if (close_after_) {
    if (stream_->worker().stopping()) why_closed_ = "the worker is stopping";
    if (!content_.complete() || !input_.empty()) co_await linger();
    co_return false;
  }
  why_closed_ = "the client ended it";
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

// For what never became a request; the connection ends with it.
net::Task<void> Session::send_refusal() {
  const http::OwnAnswer answer = http::own_answer(http::Failure::kHttpRequestError, refusal_.status, refusal_.why,
                                                  stream_->worker().wall_now());
  pending_.clear();
  append_response_head(pending_, answer.head.status, {}, answer.head.fields, answer.head.framing, ConnectionField::kClose);
  Dbg(http_hdrs_dbg, "{}", http::dump_wire(http::Direction::kClientResponse, {}, pending_));
  iovec parts[] = {part(pending_), part(answer.text)};
  net::Io io = co_await stream_->send_all(parts, settings_.client_inactivity_max);
  if (io.state == net::Io::kOk) co_await linger();
}

// A client that is gone and one that only ended its sending side look the same until something is sent. So a client
// that has ended its side, and waits for its answer, is sent a 100 (Continue) now and then, which one that still reads
// skips (RFC 9110 section 15.2), and which breaks the connection to one that is gone.
void Session::watch_client(http::ClientWatcher* watcher) noexcept {
  watcher_ = watcher;
  stream_->watch_peer(watcher != nullptr ? this : nullptr);
  if (watcher == nullptr) return;
  if (stream_->broken()) {
    peer_lost();
  } else if (stream_->peer_gone()) {
    peer_ended();
  }
}

void Session::peer_ended() noexcept {
  if (request_.version != http::Version::kHttp10 && !head_sent_) stream_->look_at(stream_->worker().now() + kLookEvery);
}

void Session::look() noexcept {
  if (head_sent_ || watcher_ == nullptr) return;
  stream_->look_at(stream_->worker().now() + kLookEvery);
  if (stream_->writing()) return;
  iovec parts[] = {part("HTTP/1.1 100 Continue\r\n\r\n")};
  if (stream_->send(parts).state == net::Io::kError) peer_lost();
}

void Session::peer_lost() noexcept {
  client_gone_ = true;
  why_gone_ = kGone;
  if (http::ClientWatcher* watcher = std::exchange(watcher_, nullptr)) watcher->client_gone();
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
  Dbg(http_hdrs_dbg, "{}", http::dump_wire(http::Direction::kClientResponse, request_.target, head));
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
  if (watcher_ != nullptr) watch_client(nullptr);
  if (!framed || stream_->worker().stopping()) close_after_ = true;
  if (content_.failed()) close_after_ = true;  // where its end is, nobody knows
  // A client that waits for a 100 it will not get may or may not send its content.
  if (!content_.complete() && request_.expect_continue && !continue_sent_) close_after_ = true;
}

// Nearly always the socket takes everything at once; then no coroutine is made.
net::Task<bool> Session::send_prepared(const http::PreparedResponse& response) {
  begin_response(true);
  char* at = prepared_end_;
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
  std::array<iovec, 3> parts{part(response.http1_head), part({prepared_end_, static_cast<std::size_t>(at - prepared_end_)}),
                             part(response.content)};
  Dbg(http_hdrs_dbg, "{}", http::dump_wire(http::Direction::kClientResponse, request_.target, response.http1_head,
                                           {prepared_end_, static_cast<std::size_t>(at - prepared_end_)}));
  if (with_content) content_bytes_sent_ = response.content.size();
  std::size_t count = with_content ? 3 : 2;
  std::size_t bytes = parts[0].iov_len + parts[1].iov_len + content_bytes_sent_;
  net::Io io = stream_->send({parts.data(), count});
  if (io.state == net::Io::kOk && io.bytes == bytes) return net::Task<bool>::ready(true);
  return send_rest(parts, count, io.state == net::Io::kOk ? io.bytes : 0);
}

net::Task<bool> Session::send_rest(std::array<iovec, 3> parts, std::size_t count, std::size_t sent) {
  co_return co_await send_parts(net::past({parts.data(), count}, sent));
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
  const std::size_t before = pending_.size();
  append_response_head(pending_, head.status, head.reason, head.fields, framing, connection_field());
  Dbg(http_hdrs_dbg, "{}", http::dump_wire(http::Direction::kClientResponse, request_.target, std::string_view(pending_).substr(before)));
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
    why_gone_ = io.error == ETIMEDOUT   ? "the client took no byte for too long"
                : io.error == ECANCELED ? "the worker is stopping"
                                        : kGone;
  } else if (stream_->reading()) {
    // Both directions share a deadline: who takes its response may be silent about its content.
    stream_->set_deadline(stream_->worker().now() + settings_.client_inactivity_max);
  }
  co_return !client_gone_;
}

}  // namespace telltale::http1
