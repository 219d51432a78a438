// SPDX-License-Identifier: Apache-2.0
//
// Thin on purpose: each callback notes what happened and leaves the work to the session, which does it once nghttp2
// has returned. What nghttp2 says about an error is not printed where it may hold a client's bytes.
#include "http2/callbacks.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include <telltale/diag/dbg.h>

#include "http/field_name.h"
#include "http2/frame_text.h"
#include "http2/session.h"

namespace telltale::http2 {
namespace {

constexpr DbgCtl http2_dbg{"http2"};
constexpr DbgCtl http2_frames_dbg{"http2_frames"};

constexpr std::size_t kFrameHeadBytes = 9;
// Response heads are limited where they are read; a limit here would only leave a stream hanging.
constexpr std::size_t kHeadBytesMax = 4 << 20;
// In one field block. FrameBudget's limit is what counts, but nghttp2 does not tell us of those whose block it throws
// away. Enough for the largest field section that may be allowed, in frames of 16 KiB, twice.
constexpr std::size_t kContinuationsMax = 128;

Session& session_of(void* user) { return *static_cast<Session*>(user); }

Stream* stream_of(nghttp2_session* nghttp2, std::int32_t id) {
  return static_cast<Stream*>(nghttp2_session_get_stream_user_data(nghttp2, id));
}

std::string_view view(const std::uint8_t* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

bool is_request(const nghttp2_frame& frame) {
  return frame.hd.type == NGHTTP2_HEADERS && frame.headers.cat == NGHTTP2_HCAT_REQUEST;
}

// Of nghttp2's words about a field it refuses, "... name: [x], value: [y]", the name, if we know it: the rest is a
// client's. Empty: an unknown name.
std::string_view known_name(std::string_view message) {
  constexpr std::string_view kBefore = "name: [";
  const std::size_t at = message.find(kBefore);
  if (at == std::string_view::npos) return {};
  message.remove_prefix(at + kBefore.size());
  const std::string_view name = message.substr(0, message.find(']'));
  for (std::string_view pseudo : {":method", ":scheme", ":authority", ":path", ":status", ":protocol"}) {
    if (name == pseudo) return pseudo;
  }
  return http::field_name(http::field_id(name));
}

}  // namespace

const nghttp2_session_callbacks* Callbacks::table() {
  static nghttp2_session_callbacks* const made = [] {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks, begin_frame);
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, begin_headers);
    nghttp2_session_callbacks_set_on_header_callback2(callbacks, header);
    nghttp2_session_callbacks_set_on_invalid_header_callback2(callbacks, invalid_header);
    nghttp2_session_callbacks_set_error_callback2(callbacks, error);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, frame_received);
    nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks, invalid_frame);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, data_chunk);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, stream_closed);
    nghttp2_session_callbacks_set_send_data_callback(callbacks, send_data);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, frame_sent);
    nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks, frame_not_sent);
    return callbacks;
  }();
  return made;
}

const nghttp2_option* Callbacks::options() {
  static nghttp2_option* const made = [] {
    nghttp2_option* option = nullptr;
    nghttp2_option_new(&option);
    nghttp2_option_set_no_auto_window_update(option, 1);  // windows open as the origin takes what came
    nghttp2_option_set_no_closed_streams(option, 1);      // nothing is kept of streams that are over
    nghttp2_option_set_max_send_header_block_length(option, kHeadBytesMax);
    nghttp2_option_set_max_continuations(option, kContinuationsMax);
    return option;
  }();
  return made;
}

int Callbacks::begin_frame(nghttp2_session*, const nghttp2_frame_hd* hd, void* user) {
  Dbg(http2_frames_dbg, "received {}", print_frame(*hd));
  return session_of(user).count(*hd) ? 0 : NGHTTP2_ERR_CALLBACK_FAILURE;
}

int Callbacks::begin_headers(nghttp2_session* nghttp2, const nghttp2_frame* frame, void* user) {
  Session& session = session_of(user);
  if (is_request(*frame)) {
    Stream* stream = session.begin_request(frame->hd.stream_id);
    if (stream == nullptr) {  // nothing is kept of the block, and nobody says when it has ended: it needs no time-out
      nghttp2_submit_rst_stream(nghttp2, NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_REFUSED_STREAM);
      return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    }
    nghttp2_session_set_stream_user_data(nghttp2, frame->hd.stream_id, stream);
  }
  session.begin_field_block();  // of a trailer section too, which is dropped
  return 0;
}

int Callbacks::header(nghttp2_session* nghttp2, const nghttp2_frame* frame, nghttp2_rcbuf* name, nghttp2_rcbuf* value,
                      std::uint8_t, void* user) {
  Session& session = session_of(user);
  ++session.fields_in_block_;
  if (!is_request(*frame)) return 0;
  Stream* stream = stream_of(nghttp2, frame->hd.stream_id);
  if (stream != nullptr) stream->block_.add(name, value, session.field_limits(), stream->request_);
  return 0;
}

// Left alone, nghttp2 would drop the field and go on. The same rule as over HTTP/1.1: refused, not repaired.
int Callbacks::invalid_header(nghttp2_session*, const nghttp2_frame*, nghttp2_rcbuf*, nghttp2_rcbuf*, std::uint8_t,
                              void*) {
  return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;  // PROTOCOL_ERROR
}

int Callbacks::error(nghttp2_session*, int error, const char* message, std::size_t size, void* user) {
  if (error != NGHTTP2_ERR_HTTP_HEADER) return 0;  // what else is wrong is told where it is dealt with
  const std::string_view name = known_name({message, size});
  Dbg(http2_dbg, "field {} of the block is wrong or must not be there{}{}", session_of(user).fields_in_block_ + 1,
      name.empty() ? "" : ": ", name);
  return 0;
}

int Callbacks::frame_received(nghttp2_session* nghttp2, const nghttp2_frame* frame, void* user) {
  Session& session = session_of(user);
  switch (frame->hd.type) {
    case NGHTTP2_HEADERS:
    case NGHTTP2_DATA: {
      if (frame->hd.type == NGHTTP2_HEADERS) {
        session.end_field_block();
      } else if (frame->hd.length != 0 && frame->data.padlen == frame->hd.length && !session.count(FrameKind::kEmpty)) {
        return NGHTTP2_ERR_CALLBACK_FAILURE;
      }
      Stream* stream = stream_of(nghttp2, frame->hd.stream_id);
      if (stream == nullptr) return 0;
      const bool end_stream = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
      if (is_request(*frame)) {
        session.end_request_head(*stream, end_stream);
      } else if (end_stream) {
        session.end_request(*stream);
      }
      return 0;
    }
    case NGHTTP2_WINDOW_UPDATE:
      Dbg(http2_frames_dbg, "WINDOW_UPDATE on {}: {}", frame->hd.stream_id, print_carried(*frame));
      return session.count_window_update(static_cast<std::uint32_t>(frame->window_update.window_size_increment))
                 ? 0
                 : NGHTTP2_ERR_CALLBACK_FAILURE;
    case NGHTTP2_RST_STREAM:
      Dbg(http2_dbg, "stream {} reset by the client with {}", frame->hd.stream_id,
          nghttp2_http2_strerror(frame->rst_stream.error_code));
      return 0;
    case NGHTTP2_GOAWAY:
      Dbg(http2_dbg, "GOAWAY received with {}", print_carried(*frame));
      return 0;
    case NGHTTP2_SETTINGS:
      if (carries(*frame)) Dbg(http2_frames_dbg, "SETTINGS: {}", print_carried(*frame));
      return 0;
    default:
      return 0;
  }
}

int Callbacks::invalid_frame(nghttp2_session* nghttp2, const nghttp2_frame* frame, int error, void* user) {
  if (frame->hd.type == NGHTTP2_HEADERS) session_of(user).end_field_block();
  if (Stream* stream = stream_of(nghttp2, frame->hd.stream_id)) stream->refused_ = true;
  Dbg(http2_dbg, "{} on stream {} refused: {}", frame_name(frame->hd.type), frame->hd.stream_id,
      nghttp2_strerror(error));
  return 0;
}

int Callbacks::data_chunk(nghttp2_session* nghttp2, std::uint8_t, std::int32_t id, const std::uint8_t* data,
                          std::size_t size, void* user) {
  session_of(user).content(stream_of(nghttp2, id), id, view(data, size));
  return 0;
}

int Callbacks::stream_closed(nghttp2_session* nghttp2, std::int32_t id, std::uint32_t, void* user) {
  if (Stream* stream = stream_of(nghttp2, id)) session_of(user).closed(*stream);
  return 0;
}

ssize_t Callbacks::read_content(nghttp2_session*, std::int32_t, std::uint8_t*, std::size_t size, std::uint32_t* flags,
                                nghttp2_data_source* source, void*) {
  Stream& stream = *static_cast<Stream*>(source->ptr);
  const std::size_t left = stream.pending_.size();
  if (left == 0 && !stream.ending_) {
    stream.deferred_ = true;
    return NGHTTP2_ERR_DEFERRED;
  }
  *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
  if (left <= size && stream.ending_) *flags |= NGHTTP2_DATA_FLAG_EOF;
  return static_cast<ssize_t>(std::min(left, size));
}

int Callbacks::send_data(nghttp2_session*, nghttp2_frame* frame, const std::uint8_t* head, std::size_t size,
                         nghttp2_data_source* source, void* user) {
  Session& session = session_of(user);
  Stream& stream = *static_cast<Stream*>(source->ptr);
  // The frame may have waited for room, and the stream been given up meanwhile.
  if (size > stream.pending_.size()) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  char* const at = session.frame_room(kFrameHeadBytes + size);
  if (at == nullptr) return NGHTTP2_ERR_WOULDBLOCK;
  std::memcpy(at, head, kFrameHeadBytes);
  std::memcpy(at + kFrameHeadBytes, stream.pending_.data(), size);
  session.content_packed(stream, size, (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0);
  return 0;
}

int Callbacks::frame_sent(nghttp2_session* nghttp2, const nghttp2_frame* frame, void* user) {
  Dbg(http2_frames_dbg, "sending {}{}{}", print_frame(frame->hd), carries(*frame) ? ": " : "", print_carried(*frame));
  switch (frame->hd.type) {
    case NGHTTP2_HEADERS:
      if (Stream* stream = stream_of(nghttp2, frame->hd.stream_id)) {
        session_of(user).head_packed(*stream, (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0);
      }
      return 0;
    case NGHTTP2_RST_STREAM:
      session_of(user).reset_sent(stream_of(nghttp2, frame->hd.stream_id), frame->hd.stream_id,
                                  frame->rst_stream.error_code);
      return 0;
    case NGHTTP2_GOAWAY:
      // What nghttp2 sends along is a fixed text of its own.
      Dbg(http2_dbg, "GOAWAY sent with {}, the last stream is {}{}{}",
          nghttp2_http2_strerror(frame->goaway.error_code), frame->goaway.last_stream_id,
          frame->goaway.opaque_data_len == 0 ? "" : ": ",
          view(frame->goaway.opaque_data, frame->goaway.opaque_data_len));
      if (frame->goaway.error_code != NGHTTP2_NO_ERROR) session_of(user).end_sent();
      return 0;
    default:
      return 0;
  }
}

int Callbacks::frame_not_sent(nghttp2_session* nghttp2, const nghttp2_frame* frame, int error, void* user) {
  if (frame->hd.type != NGHTTP2_HEADERS) return 0;  // what answers a client that has gone on or is being ended
  Dbg(http2_dbg, "HEADERS on stream {} not sent: {}", frame->hd.stream_id, nghttp2_strerror(error));
  if (Stream* stream = stream_of(nghttp2, frame->hd.stream_id)) {
    session_of(user).reset(*stream, NGHTTP2_INTERNAL_ERROR);
    stream->lose();
  }
  return 0;
}

}  // namespace telltale::http2
