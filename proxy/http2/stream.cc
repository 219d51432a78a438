// SPDX-License-Identifier: Apache-2.0
#include "http2/stream.h"

#include <charconv>

#include <telltale/diag/dbg.h>

#include "http/own_answer.h"
#include "http/print.h"
#include "http/print_dump.h"
#include "http2/lower_names.h"
#include "http2/session.h"
#include "net/worker.h"

namespace telltale::http2 {
namespace {

constexpr DbgCtl http2_dbg{"http2"};
constexpr DbgCtl http_hdrs_dbg{"http_hdrs"};

constexpr std::size_t kContentKept = 16 * 1024;  // capacity that a stream keeps for its next request

nghttp2_nv pair(std::string_view name, std::string_view value, int flags) {
  return {const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(name.data())),
          const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(value.data())), name.size(), value.size(),
          static_cast<std::uint8_t>(flags)};
}

std::string_view to_text(std::uint64_t number, char (&digits)[20]) {
  return {digits, static_cast<std::size_t>(std::to_chars(digits, digits + sizeof digits, number).ptr - digits)};
}

// Written by us, or meaningless in HTTP/2.
bool is_left_out(http::FieldId id) {
  switch (id) {
    case http::FieldId::kContentLength:
    case http::FieldId::kTransferEncoding:
    case http::FieldId::kConnection:
    case http::FieldId::kKeepAlive:
    case http::FieldId::kProxyConnection:
    case http::FieldId::kUpgrade:
    case http::FieldId::kTe:
      return true;
    default:
      return false;
  }
}

void trim(std::string& text) {
  text.clear();
  if (text.capacity() > kContentKept) std::string().swap(text);
}

}  // namespace

const net::Endpoint& Stream::client() const noexcept { return session_->peer(); }
diag::Context* Stream::connection_context() noexcept { return session_->context(); }

void Stream::open(Session& session, std::int32_t id) noexcept {
  session_ = &session;
  id_ = id;
  read_deadline_ = send_deadline_ = net::kNever;
  announced_left_ = content_bytes_sent_ = 0;
  head_ended_ = request_ended_ = reading_stopped_ = reading_late_ = continue_sent_ = false;
  length_known_ = content_wanted_ = head_sent_ = head_packed_ = ending_ = response_ended_ = deferred_ = false;
  slow_ = gone_ = reset_ = refused_ = closed_ = done_ = start_ = wake_reader_ = wake_sender_ = due_ = false;
  pending_ = {};
  watcher_ = nullptr;
}

void Stream::close() noexcept {
  request_.clear();
  block_.clear();
  trim(incoming_);
  trim(lent_);
  trim(text_);
}

// The client is gone, or the stream was given up: whoever waits goes on.
void Stream::lose() noexcept {
  if (gone_) return;
  gone_ = true;
  pending_ = {};
  wake_reader_ = reader_.waiting();
  wake_sender_ = sender_.waiting();
  if (http::ClientWatcher* watcher = std::exchange(watcher_, nullptr)) watcher->client_gone();
  session_->due(*this);
}

net::SteadyTime Stream::deadline() const noexcept {
  return std::min(reader_.waiting() ? read_deadline_ : net::kNever, sender_.waiting() ? send_deadline_ : net::kNever);
}

void Stream::expire(net::SteadyTime now) noexcept {
  if (sender_.waiting() && send_deadline_ <= now) {
    Dbg(http2_dbg, "stream {} reset with CANCEL: the client took none of its content for too long", id_);
    session_->reset(*this, NGHTTP2_CANCEL);
    slow_ = true;
    lose();
  } else if (reader_.waiting() && read_deadline_ <= now) {
    Dbg(http2_dbg, "stream {}: the client sent none of its content for too long", id_);
    reading_late_ = wake_reader_ = true;
    session_->due(*this);
  }
}

void Stream::watch_client(http::ClientWatcher* watcher) noexcept {
  watcher_ = gone_ ? nullptr : watcher;
  if (gone_ && watcher != nullptr) watcher->client_gone();
}

// ---- the request's content

net::Task<http::Content> Stream::read_content() {
  using http::Content;
  if (!lent_.empty()) {
    session_->consumed(*this, lent_.size());
    lent_.clear();
  }
  if (request_.expect_continue && !continue_sent_ && !head_sent_ && incoming_.empty() && !request_ended_) {
    co_await send_interim(100, {});
  }
  for (;;) {
    if (reading_stopped_) co_return Content{Content::kBroken};
    if (!incoming_.empty()) {
      lent_.swap(incoming_);
      co_return Content{Content::kData, lent_};
    }
    if (request_ended_) co_return Content{Content::kEnd};
    if (gone_) co_return Content{Content::kBroken};
    if (reading_late_) co_return Content{Content::kTimeout};
    read_deadline_ = session_->inactive_until();
    co_await Wait{reader_};
  }
}

void Stream::stop_reading() noexcept {
  reading_stopped_ = true;
  if (!reader_.waiting()) return;
  wake_reader_ = true;
  session_->due(*this);
}

// ---- the response

// copy: nghttp2 copies the text; without it, text must live until the head is packed.
bool Stream::submit(std::uint16_t status, const http::Fields& fields, http::Framing framing, std::string_view age,
                    bool copy) {
  if (gone_) return false;
  const std::uint8_t value_flag = copy ? NGHTTP2_NV_FLAG_NONE : NGHTTP2_NV_FLAG_NO_COPY_VALUE;
  std::vector<nghttp2_nv>& head = session_->field_list();
  head.clear();
  char status_digits[20], length_digits[20];
  head.push_back(pair(":status", to_text(status, status_digits), NGHTTP2_NV_FLAG_NO_COPY_NAME));
  for (const http::Field& field : fields) {
    if (is_left_out(field.id)) continue;
    if (field.id == http::FieldId::kOther) {
      head.push_back(pair(field.name, field.value, value_flag));  // nghttp2 copies the name, in lower case
    } else {
      head.push_back(pair(lower_name(field.id), field.value, value_flag | NGHTTP2_NV_FLAG_NO_COPY_NAME));
    }
  }
  const bool may_announce = status >= 200 && status != 204;
  std::string_view length;
  if (may_announce &&
      (framing.kind == http::Framing::kLength || (framing.kind == http::Framing::kNone && framing.announced))) {
    length = to_text(framing.length, length_digits);
    head.push_back(pair("content-length", length, NGHTTP2_NV_FLAG_NO_COPY_NAME));
  }
  if (!age.empty()) head.push_back(pair("age", age, NGHTTP2_NV_FLAG_NO_COPY_NAME));
  Dbg(http_hdrs_dbg, "{}",
      http::dump_response(http::Direction::kClientResponse, request_.target, http::Version::kHttp2, status, fields,
                          {http::Field{http::FieldId::kContentLength, length.empty() ? "" : "content-length", length},
                           http::Field{http::FieldId::kAge, age.empty() ? "" : "age", age}}));
  if (!session_->submit_head(*this, status)) {
    lose();
    return false;
  }
  return true;
}

void Stream::ready_to_send() noexcept {
  if (std::exchange(deferred_, false)) session_->resume_content(*this);
  session_->flush_later();
}

// Until all that is pending is in frames.
net::Task<bool> Stream::packed() {
  while (!pending_.empty() && !gone_) {
    send_deadline_ = session_->inactive_until();
    co_await Wait{sender_};
  }
  co_return !gone_;
}

net::Task<bool> Stream::send_interim(std::uint16_t status, const http::Fields& fields) {
  if (status == 100) {
    if (continue_sent_) co_return !gone_;
    continue_sent_ = true;
  }
  bool sent = submit(status, fields, {}, {}, true);
  if (sent) session_->flush_later();
  co_return sent;
}

// Nothing of it is copied before it is packed: the response lives while its sender is suspended here.
net::Task<bool> Stream::send_prepared(const http::PreparedResponse& response) {
  content_wanted_ = request_.method != http::Method::kHead && !response.content.empty();
  ending_ = true;
  if (content_wanted_) pending_ = response.content;
  char age[20];
  if (!submit(response.status, response.fields, {http::Framing::kLength, response.content.size()},
              to_text(static_cast<std::uint64_t>(response.age.count()), age), false)) {
    co_return false;
  }
  head_sent_ = true;
  session_->flush_later();
  while (!closed_ && !(head_packed_ && pending_.empty())) {
    send_deadline_ = session_->inactive_until();
    co_await Wait{sender_};
  }
  co_return !gone_;
}

net::Task<bool> Stream::send_head(const http::ResponseHead& head) {
  content_wanted_ = request_.method != http::Method::kHead && head.framing.kind != http::Framing::kNone;
  length_known_ = head.framing.kind == http::Framing::kLength;
  announced_left_ = length_known_ ? head.framing.length : 0;
  if (length_known_ && announced_left_ == 0) content_wanted_ = false;
  ending_ = !content_wanted_;
  bool sent = submit(head.status, head.fields, head.framing, {}, true);
  head_sent_ = sent;
  if (sent) session_->flush_later();
  co_return sent;
}

net::Task<bool> Stream::send_content(std::string_view data) {
  if (!content_wanted_ || data.empty() || gone_) co_return !gone_;
  pending_ = data;
  announced_left_ -= std::min<std::uint64_t>(announced_left_, data.size());
  if (length_known_ && announced_left_ == 0) ending_ = true;  // the last piece ends the stream: no empty frame after it
  ready_to_send();
  co_return co_await packed();
}

net::Task<bool> Stream::finish() {
  if (!gone_ && !std::exchange(ending_, true)) ready_to_send();
  co_return !gone_;
}

void Stream::abort() noexcept {
  if (gone_) return;
  Dbg(http2_dbg, "stream {} reset with INTERNAL_ERROR: its response could not be completed", id_);
  session_->reset(*this, NGHTTP2_INTERNAL_ERROR);
  watcher_ = nullptr;  // it is the one who aborts
  lose();
}

// Answers without a transaction.
void Stream::answer(const Refused& refused) {
  http::OwnAnswer answer = http::own_answer(http::Failure::kHttpRequestError, refused.status, refused.reason,
                                            session_->wall_now());
  text_ = std::move(answer.text);
  content_wanted_ = request_.method != http::Method::kHead;
  ending_ = true;
  if (content_wanted_) pending_ = text_;
  head_sent_ = submit(answer.head.status, answer.head.fields, answer.head.framing, {}, true);
}

}  // namespace telltale::http2
