// SPDX-License-Identifier: Apache-2.0
#include "http2/session.h"

#include <algorithm>
#include <cstring>

#include <sys/socket.h>

#include <telltale/diag/dbg.h>

#include "http/print.h"
#include "http2/callbacks.h"
#include "net/worker.h"

namespace telltale::http2 {
namespace {

constexpr DbgCtl http2_dbg{"http2"};

constexpr int kWritesPerTurn = 8;  // then others on this worker get their turn
constexpr std::uint64_t kLingerBytesMax = 256 * 1024;
constexpr std::chrono::seconds kLingerMax{2};

}  // namespace

Session::Session(std::unique_ptr<net::Stream> stream, http::Handler& handler, const SessionSettings& settings,
                 WorkerPart& part, std::uint64_t connection_id)
    : stream_(std::move(stream)),
      handler_(handler),
      settings_(settings),
      part_(part),
      flush_gate_(stream_->worker()),
      drained_(stream_->worker()),
      over_gate_(stream_->worker()) {
  client_.address = stream_->peer().address_bytes();
  context_.connection = connection_id;
  context_.client = &client_;
  announced_.streams_max = announced_.stream_window_bytes = 0;  // nothing yet
}

Session::~Session() { nghttp2_session_del(nghttp2_); }

net::Task<void> Session::run(std::string received) {
  diag::Scope scope(&context_);
  Dbg(http2_dbg, "connection from {} speaks HTTP/2", stream_->peer());
  if (nghttp2_session_server_new3(&nghttp2_, Callbacks::table(), this, Callbacks::options(),
                                  part_.memory.functions()) != 0) {
    co_return;
  }
  idle_until_ = stream_->worker().now() + settings_.keep_alive_max;
  announce();
  flusher();
  take(received);
  std::string().swap(received);

  for (bool more = true; more;) {
    turn();
    if (over()) break;
    if (!unsent_.empty()) {
      net::Wake wake = co_await drained_.wait();
      more = wake == net::Wake::kReady;
      continue;
    }
    arm();
    net::Wake wake;
    if (draining_) {
      wake = co_await stream_->readable();
    } else {
      wake = co_await stream_->idle_readable();
    }
    if (wake == net::Wake::kTimeout) {
      expire();
    } else if (wake == net::Wake::kShutdown) {
      more = begin_drain();
    } else {
      net::Io io = stream_->recv(part_.in);
      if (io.state == net::Io::kOk) {
        announce();
        take({part_.in.data(), io.bytes});
      } else if (io.state == net::Io::kClosed || io.state == net::Io::kError) {
        if (!broken_ && !ended_) why_closed_ = io.state == net::Io::kClosed ? "the client ended it" : "the client reset it";
        more = false;
      }
    }
  }
  co_await end();
  Dbg(http2_dbg, "connection closed: {}; requests: {}, bytes in: {}, out: {}", why_closed_, requests_,
      stream_->bytes_in(), stream_->bytes_out());
}

// Tells the client what holds here, first and whenever it has changed.
void Session::announce() {
  if (settings_.streams_max == announced_.streams_max &&
      settings_.stream_window_bytes == announced_.stream_window_bytes &&
      settings_.connection_window_bytes == announced_.connection_window_bytes &&
      settings_.header_list_bytes_max == announced_.header_list_bytes_max) {
    return;
  }
  announced_ = settings_;
  const nghttp2_settings_entry entries[] = {
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, settings_.streams_max},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, settings_.stream_window_bytes},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<std::uint32_t>(settings_.header_list_bytes_max)},
      {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1},
  };
  nghttp2_submit_settings(nghttp2_, NGHTTP2_FLAG_NONE, entries, std::size(entries));
  nghttp2_session_set_local_window_size(nghttp2_, NGHTTP2_FLAG_NONE, 0,
                                        static_cast<std::int32_t>(settings_.connection_window_bytes));
}

// Everything is taken: what cannot be worked on now waits in streams, within their windows.
// REQUIRES: a turn() follows.
void Session::take(std::string_view bytes) {
  in_turn_ = true;
  const ssize_t used =
      nghttp2_session_mem_recv(nghttp2_, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  if (used >= 0) return;
  const bool flooded = used == NGHTTP2_ERR_FLOODED || used == NGHTTP2_ERR_TOO_MANY_CONTINUATIONS;
  end_with(flooded ? NGHTTP2_ENHANCE_YOUR_CALM : NGHTTP2_INTERNAL_ERROR, nghttp2_strerror(static_cast<int>(used)));
}

// ---- a turn of the loop

void Session::turn() {
  in_turn_ = true;
  bool all = false;
  for (int i = 0; i < kWritesPerTurn && !all && !broken_; ++i) {
    run_due();
    const Written written = write();
    if (written == Written::kBlocked) {
      in_turn_ = false;
      return;  // the flusher waits for the socket
    }
    all = written == Written::kAll && due_.empty();
  }
  in_turn_ = false;
  if (!all) flush_later();
}

void Session::run_due() {
  while (!due_.empty()) {
    due_now_.swap(due_);
    for (Stream* stream : due_now_) {
      stream->due_ = false;
      step(*stream);
    }
    due_now_.clear();
  }
}

void Session::step(Stream& stream) {
  if (std::exchange(stream.start_, false)) {
    if (stream.gone_) {
      stream.done_ = true;  // reset before we began: no work for it
    } else {
      serve(stream);
    }
  }
  if (std::exchange(stream.wake_sender_, false) && stream.sender_.waiting()) stream.sender_.resume(net::Wake::kReady);
  if (std::exchange(stream.wake_reader_, false) && stream.reader_.waiting()) stream.reader_.resume(net::Wake::kReady);
  settle(stream);
}

// Lets go of a stream when nothing needs it any more.
void Session::settle(Stream& stream) {
  if (!stream.done_ || stream.due_) return;
  if (!stream.closed_) {
    if (!stream.ending_ || stream.gone_) {
      reset(stream, NGHTTP2_INTERNAL_ERROR);  // no response came of it
    } else if (stream.response_ended_ && !stream.request_ended_) {
      reset(stream, NGHTTP2_NO_ERROR);  // the answer is complete; what else the client sends is not wanted
    }
    return;
  }
  const std::size_t unread = stream.unread_bytes();
  if (unread != 0) nghttp2_session_consume_connection(nghttp2_, unread);
  stream.close();
  const std::size_t place = stream.place_;
  std::swap(streams_[place], streams_.back());
  streams_[place]->place_ = place;
  part_.give_stream(std::move(streams_.back()));
  streams_.pop_back();
  if (streams_.empty()) idle_until_ = stream_->worker().now() + settings_.keep_alive_max;
}

net::Detached Session::serve(Stream& stream) {
  ++running_;
  co_await handler_.serve(stream);
  --running_;
  stream.watcher_ = nullptr;
  stream.done_ = true;
  due(stream);
  flush_later();
  if (over_) over_gate_.open();
}

// Packs frames until there are none or the buffer is full, and sends them with one call.
Session::Written Session::write() {
  if (unsent_.empty() && pack() == 0) return broken_ ? Written::kBlocked : Written::kAll;
  const bool was_unsent = !unsent_.empty();
  const std::string_view bytes = was_unsent ? std::string_view(unsent_) : std::string_view(part_.out.data(), out_size_);
  const iovec one{const_cast<char*>(bytes.data()), bytes.size()};
  const net::Io io = stream_->send({&one, 1});
  if (io.state == net::Io::kError) {
    Dbg(http2_dbg, "sending to the client failed: {}", std::strerror(io.error));
    fail("the client is gone");
    return Written::kBlocked;
  }
  const std::size_t sent = io.state == net::Io::kOk ? io.bytes : 0;
  if (sent == bytes.size()) {
    if (was_unsent) std::string().swap(unsent_);
    return was_unsent || out_full_ ? Written::kMore : Written::kAll;
  }
  if (sent != 0 || !was_unsent) {
    write_until_ = stream_->worker().now() + settings_.client_inactivity_max;
    untaken_ = stream_->untaken();
    if (was_unsent) {
      unsent_.erase(0, sent);
    } else {
      unsent_.assign(bytes.substr(sent));
    }
  }
  flush_gate_.open();
  return Written::kBlocked;
}

std::size_t Session::pack() {
  out_size_ = 0;
  out_full_ = false;
  while (!out_full_) {
    const std::uint8_t* frame = nullptr;
    const ssize_t bytes = nghttp2_session_mem_send(nghttp2_, &frame);
    if (bytes == 0) break;
    if (bytes < 0 || static_cast<std::size_t>(bytes) > part_.out.size() - out_size_) {
      Dbg(http2_dbg, "no frame could be made: {}", nghttp2_strerror(static_cast<int>(bytes)));
      fail("no frame could be made");
      return 0;
    }
    std::memcpy(part_.out.data() + out_size_, frame, static_cast<std::size_t>(bytes));
    out_size_ += static_cast<std::size_t>(bytes);
    out_full_ = out_size_ >= WorkerPart::kOutBytes;
  }
  return out_size_;
}

char* Session::frame_room(std::size_t bytes) noexcept {
  if (out_size_ >= WorkerPart::kOutBytes || bytes > part_.out.size() - out_size_) {
    out_full_ = true;
    return nullptr;
  }
  char* const at = part_.out.data() + out_size_;
  out_size_ += bytes;
  return at;
}

// Writes in turns in which nothing was received, and what the socket did not take at once.
net::Detached Session::flusher() {
  flusher_runs_ = true;
  while (!over_ && !broken_) {
    net::Wake wake = co_await flush_gate_.wait();
    if (wake == net::Wake::kShutdown || over_ || broken_) break;
    if (unsent_.empty()) turn();
    while (!unsent_.empty() && !over_ && !broken_) {
      arm();
      wake = co_await stream_->writable();
      if (over_ || broken_) break;
      if (wake == net::Wake::kTimeout && !client_is_stuck()) continue;
      if (wake != net::Wake::kReady) {
        fail(wake == net::Wake::kTimeout ? "the client took nothing for too long" : "the worker is stopping");
        break;
      }
      turn();
    }
    if (drained_.waiting()) {
      drained_.open();
    } else if (over() && !over_) {
      ::shutdown(stream_->fd(), SHUT_RD);  // wakes run()
    } else {
      arm();
    }
  }
  flusher_runs_ = false;
  if (drained_.waiting()) drained_.open();
  if (over_) over_gate_.open();
}

// Whether the client has taken nothing for too long; a socket that waits to be writable again does not tell.
bool Session::client_is_stuck() noexcept {
  const net::SteadyTime now = stream_->worker().now();
  if (now < write_until_) return false;
  const std::size_t before = std::exchange(untaken_, stream_->untaken());
  write_until_ = now + settings_.client_inactivity_max;
  return untaken_ >= before;
}

// ---- time

net::SteadyTime Session::inactive_until() noexcept {
  const net::SteadyTime until = stream_->worker().now() + settings_.client_inactivity_max;
  check_at_ = std::min(check_at_, until);
  if (!in_turn_) arm();
  return until;
}

// The stream has one deadline for all that is waited for here.
void Session::arm() noexcept {
  net::SteadyTime deadline = streams_.empty() ? idle_until_ : check_at_;
  deadline = std::min(deadline, field_block_until_);
  if (!unsent_.empty()) deadline = std::min(deadline, write_until_);
  stream_->set_deadline(deadline);
}

void Session::expire() {
  const net::SteadyTime now = stream_->worker().now();
  if (field_block_until_ <= now) {
    end_with(NGHTTP2_ENHANCE_YOUR_CALM, "a field block did not arrive in time");
  } else if (streams_.empty() && idle_until_ <= now) {
    end_with(NGHTTP2_NO_ERROR, "idle, keep-alive time is over");
  }
  check_at_ = net::kNever;
  // While the socket is full no stream can send: whether the client is stuck is judged by the socket then.
  const bool full = !unsent_.empty();
  for (const std::unique_ptr<Stream>& stream : streams_) {
    if (full) stream->send_deadline_ = std::max(stream->send_deadline_, now + settings_.client_inactivity_max);
    stream->expire(now);
    check_at_ = std::min(check_at_, stream->deadline());
  }
}

// ---- the end

bool Session::over() const noexcept {
  return broken_ ||
         (unsent_.empty() && nghttp2_session_want_read(nghttp2_) == 0 && nghttp2_session_want_write(nghttp2_) == 0);
}

// False: the time for finishing is over too.
bool Session::begin_drain() {
  if (draining_ || ended_) return false;
  draining_ = true;
  why_closed_ = "the worker is stopping";
  Dbg(http2_dbg, "stopping: no new streams, {} are finished", streams_.size());
  nghttp2_submit_goaway(nghttp2_, NGHTTP2_FLAG_NONE, nghttp2_session_get_last_proc_stream_id(nghttp2_),
                        NGHTTP2_NO_ERROR, nullptr, 0);
  return true;
}

void Session::end_with(std::uint32_t error, std::string_view why) {
  if (std::exchange(ended_, true)) return;
  why_closed_ = why;
  Dbg(http2_dbg, "connection ended with {}: {}", nghttp2_http2_strerror(error), why);
  nghttp2_session_terminate_session(nghttp2_, error);
}

void Session::fail(std::string_view why) noexcept {
  why_closed_ = why;
  broken_ = true;
  unsent_.clear();
  ::shutdown(stream_->fd(), SHUT_RDWR);  // wakes whoever waits for it
}

net::Task<void> Session::end() {
  over_ = true;
  for (const std::unique_ptr<Stream>& stream : streams_) {
    stream->lose();
    closed(*stream);
  }
  run_due();
  if (ended_ && !broken_) co_await linger();
  while (!streams_.empty() || flusher_runs_) {
    flush_gate_.open();
    if (!unsent_.empty()) ::shutdown(stream_->fd(), SHUT_RDWR);
    net::Wake wake = co_await over_gate_.wait();
    if (wake == net::Wake::kShutdown) co_await stream_->worker().yield();
    run_due();
  }
}

// As HTTP/1.1 does: a close with bytes unread would be a reset, which can destroy the GOAWAY on its way.
net::Task<void> Session::linger() {
  stream_->shutdown_write();
  stream_->set_deadline(stream_->worker().now() + kLingerMax);
  for (std::uint64_t bytes = 0; bytes < kLingerBytesMax;) {
    net::Wake wake = co_await stream_->readable();
    if (wake != net::Wake::kReady) break;
    net::Io io = stream_->recv(part_.in);
    if (io.state == net::Io::kClosed || io.state == net::Io::kError) break;
    bytes += io.bytes;
  }
}

// ---- for streams

net::WallTime Session::wall_now() const noexcept { return stream_->worker().wall_now(); }

void Session::due(Stream& stream) noexcept {
  if (std::exchange(stream.due_, true)) return;
  due_.push_back(&stream);
  if (!in_turn_) flush_gate_.open();
}

void Session::flush_later() noexcept {
  if (!in_turn_) flush_gate_.open();
}

bool Session::submit_head(Stream& stream, std::uint16_t status) {
  const std::vector<nghttp2_nv>& head = part_.fields;
  if (status < 200) {
    return nghttp2_submit_headers(nghttp2_, NGHTTP2_FLAG_NONE, stream.id_, nullptr, head.data(), head.size(),
                                  nullptr) == 0;
  }
  nghttp2_data_provider content{{}, Callbacks::read_content};
  content.source.ptr = &stream;
  return nghttp2_submit_response(nghttp2_, stream.id_, head.data(), head.size(),
                                 stream.content_wanted_ ? &content : nullptr) == 0;
}

void Session::resume_content(Stream& stream) noexcept { nghttp2_session_resume_data(nghttp2_, stream.id_); }

void Session::consumed(Stream& stream, std::size_t bytes) noexcept {
  nghttp2_session_consume(nghttp2_, stream.id_, bytes);
  flush_later();
}

void Session::reset(Stream& stream, std::uint32_t error) noexcept {
  if (stream.closed_ || std::exchange(stream.reset_, true)) return;
  nghttp2_submit_rst_stream(nghttp2_, NGHTTP2_FLAG_NONE, stream.id_, error);
  flush_later();
}

// ---- for callbacks

bool Session::count(const nghttp2_frame_hd& hd) {
  switch (hd.type) {
    case NGHTTP2_HEADERS:
    case NGHTTP2_WINDOW_UPDATE:  // its increment decides
    case NGHTTP2_PUSH_PROMISE:   // ends the connection
      return true;
    case NGHTTP2_DATA:
      return hd.length != 0 || (hd.flags & NGHTTP2_FLAG_END_STREAM) != 0 || count(FrameKind::kEmpty);
    case NGHTTP2_SETTINGS:
      return (hd.flags & NGHTTP2_FLAG_ACK) != 0 || count(FrameKind::kSettings);
    case NGHTTP2_PING:
      return (hd.flags & NGHTTP2_FLAG_ACK) != 0 || count(FrameKind::kPing);
    case NGHTTP2_PRIORITY:
      return count(FrameKind::kPriority);
    case NGHTTP2_RST_STREAM:
      return count(FrameKind::kRstStream);
    case NGHTTP2_CONTINUATION:
      return count(FrameKind::kContinuation);
    default:
      return count(FrameKind::kEmpty);
  }
}

bool Session::count(FrameKind kind) {
  if (budget_.take(kind, settings_.frames, stream_->worker().now())) return true;
  Dbg(http2_dbg, "more than {} frames of kind {} within a minute", limit_of(settings_.frames, kind), kind_name(kind));
  end_with(NGHTTP2_ENHANCE_YOUR_CALM, "too many frames");
  return false;
}

void Session::begin_field_block() noexcept {
  field_block_until_ = stream_->worker().now() + settings_.request_head_max;
  fields_in_block_ = 0;
}

Stream* Session::begin_request(std::int32_t id) {
  if (streams_.size() >= settings_.streams_max) {  // those that were reset and have not ended count too
    Dbg(http2_dbg, "stream {} refused: {} are open or not finished", id, streams_.size());
    return nullptr;
  }
  streams_.push_back(part_.take_stream());
  Stream& stream = *streams_.back();
  stream.place_ = streams_.size() - 1;
  stream.open(*this, id);
  return &stream;
}

void Session::end_request_head(Stream& stream, bool end_stream) {
  ++requests_;
  stream.head_ended_ = true;
  stream.request_ended_ = end_stream;
  const Refused refused = stream.block_.finish(!end_stream, stream.request_);
  if (refused.status == 0) {
    stream.start_ = true;
    due(stream);
    return;
  }
  stream.done_ = true;
  if (refused.malformed) {
    Dbg(http2_dbg, "stream {} reset with PROTOCOL_ERROR: {}", stream.id_, refused.reason);
    reset(stream, NGHTTP2_PROTOCOL_ERROR);
  } else {
    Dbg(http2_dbg, "stream {} refused with {}: {}", stream.id_, refused.status, refused.reason);
    if (refused.status == 431) {
      Dbg(http2_dbg,
          "a field section may have {} bytes (proxy.config.http2.max_header_list_size) and {} fields "
          "(proxy.config.telltale.http.header_field_count_max)",
          settings_.header_list_bytes_max, settings_.fields_max);
    }
    stream.answer(refused);
  }
}

void Session::content(Stream* stream, std::int32_t id, std::string_view data) {
  if (stream == nullptr || stream->done_ || stream->gone_ || stream->reading_stopped_) {
    nghttp2_session_consume(nghttp2_, id, data.size());  // thrown away
    return;
  }
  stream->take_content(data);
  stream->wake_reader_ = true;
  due(*stream);
}

void Session::end_request(Stream& stream) noexcept {
  stream.request_ended_ = true;
  stream.wake_reader_ = true;
  due(stream);
}

void Session::closed(Stream& stream) noexcept {
  stream.closed_ = true;
  if (!stream.response_ended_ || !stream.request_ended_) stream.lose();
  if (!stream.head_ended_) stream.done_ = true;
  stream.wake_sender_ = true;
  due(stream);
}

// An interim head passes for a final one here: then nothing waits for it.
void Session::head_packed(Stream& stream, bool end_stream) noexcept {
  stream.head_packed_ = stream.head_sent_;
  if (end_stream || (stream.head_packed_ && stream.gone_)) content_packed(stream, 0, end_stream);
}

void Session::content_packed(Stream& stream, std::size_t bytes, bool end_stream) noexcept {
  stream.pending_.remove_prefix(bytes);
  stream.content_bytes_sent_ += bytes;
  stream.send_deadline_ = stream_->worker().now() + settings_.client_inactivity_max;
  stream.response_ended_ = end_stream;
  if (!stream.pending_.empty() && !end_stream) return;
  stream.wake_sender_ = true;
  due(stream);
}

void Session::end_sent() noexcept {
  if (!std::exchange(ended_, true)) why_closed_ = "the client broke the protocol";
}

// Resets that a client's errors make us send cost as much as its own, and count with them.
void Session::reset_sent(const Stream* stream, std::int32_t id, std::uint32_t error) {
  // nghttp2 sees to the length of content, and says nothing about it.
  const bool length_wrong = stream != nullptr && error == NGHTTP2_PROTOCOL_ERROR && stream->head_ended_ &&
                            !stream->reset_ && !stream->refused_ &&
                            stream->request_.framing.kind == http::Framing::kLength;
  Dbg(http2_dbg, "RST_STREAM sent on stream {} with {}{}", id, nghttp2_http2_strerror(error),
      length_wrong ? ": its content has another length than announced" : "");
  switch (error) {
    case NGHTTP2_NO_ERROR:
    case NGHTTP2_CANCEL:
    case NGHTTP2_REFUSED_STREAM:
    case NGHTTP2_INTERNAL_ERROR:
      return;
    default:
      (void)count(FrameKind::kRstStream);
  }
}

}  // namespace telltale::http2
