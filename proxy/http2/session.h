// SPDX-License-Identifier: Apache-2.0
#pragma once
// A client connection that speaks HTTP/2: reads frames, has each stream's request answered by the handler in a
// coroutine of its own, and writes what all of them have to send.
//
// nghttp2 knows frames, HPACK, windows and the states of streams; it calls back while it is given bytes and while it
// is asked for some, and nothing is resumed within its calls: what they make ready is due, and run after them. One
// turn of the loop is: all that was received, all that became due, one write.
//
//   run()      waits for bytes to read; not while bytes wait to be written, so a client that does not read is not read
//   flusher()  writes what streams have in turns in which nothing was received, and waits for a full socket
//
// Memory is bounded: request content by windows, response content by one piece a stream, packed frames by
// WorkerPart's buffer, streams by streams_max, whether or not the client still wants them.
//
// **Thread safety:** loop-bound. **Source:** RFC 9113; https://nghttp2.org/documentation/.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nghttp2/nghttp2.h>

#include <telltale/diag/scope.h>

#include "http/exchange.h"
#include "http2/frame_budget.h"
#include "http2/session_settings.h"
#include "http2/stream.h"
#include "http2/worker_part.h"
#include "net/gate.h"
#include "net/stream.h"

namespace telltale::http2 {

class Session {
 public:
  // All but the stream must outlive the session.
  Session(std::unique_ptr<net::Stream> stream, http::Handler& handler, const SessionSettings& settings,
          WorkerPart& part, std::uint64_t connection_id);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Serves the connection to its end. `received`: what came on it so far, the preface included.
  net::Task<void> run(std::string received);

 private:
  friend class Stream;
  friend struct Callbacks;

  static constexpr std::uint32_t kTinyIncrement = 256;  // a window that opens by less hardly opens

  enum class Written : std::uint8_t { kAll, kMore, kBlocked };

  // For streams.
  const net::Endpoint& peer() const noexcept { return stream_->peer(); }
  diag::Context* context() noexcept { return &context_; }
  net::WallTime wall_now() const noexcept;
  std::vector<nghttp2_nv>& field_list() noexcept { return part_.fields; }
  net::SteadyTime inactive_until() noexcept;
  void due(Stream& stream) noexcept;
  void flush_later() noexcept;
  bool submit_head(Stream& stream, std::uint16_t status);
  void resume_content(Stream& stream) noexcept;
  void consumed(Stream& stream, std::size_t bytes) noexcept;
  void reset(Stream& stream, std::uint32_t error) noexcept;

  void announce();
  void take(std::string_view bytes);
  void turn();
  void run_due();
  void step(Stream& stream);
  void settle(Stream& stream);
  Written write();
  std::size_t pack();
  bool over() const noexcept;
  bool client_is_stuck() noexcept;
  void arm() noexcept;
  void expire();
  bool begin_drain();
  void end_with(std::uint32_t error, std::string_view why);  // a fixed text, as below
  void fail(std::string_view why) noexcept;
  net::Task<void> end();
  net::Task<void> linger();
  net::Detached serve(Stream& stream);
  net::Detached flusher();

  // For callbacks. count(): false, and the connection ends, where a client sent too many.
  bool count(const nghttp2_frame_hd& hd);
  bool count(FrameKind kind);
  bool count_window_update(std::uint32_t increment) { return increment >= kTinyIncrement || count(FrameKind::kEmpty); }
  void begin_field_block() noexcept;
  void end_field_block() noexcept { field_block_until_ = net::kNever; }
  FieldLimits field_limits() const noexcept { return {settings_.header_list_bytes_max, settings_.fields_max}; }
  Stream* begin_request(std::int32_t id);  // null: there are too many
  void end_request_head(Stream& stream, bool end_stream);
  void content(Stream* stream, std::int32_t id, std::string_view data);
  void end_request(Stream& stream) noexcept;
  void closed(Stream& stream) noexcept;
  char* frame_room(std::size_t bytes) noexcept;
  void head_packed(Stream& stream, bool end_stream) noexcept;
  void content_packed(Stream& stream, std::size_t bytes, bool end_stream) noexcept;
  void end_sent() noexcept;  // GOAWAY with an error went out
  void reset_sent(const Stream* stream, std::int32_t id, std::uint32_t error);

  // Constant after construction.
  const std::unique_ptr<net::Stream> stream_;
  http::Handler& handler_;
  const SessionSettings& settings_;
  WorkerPart& part_;
  diag::Client client_;
  diag::Context context_;
  nghttp2_session* nghttp2_ = nullptr;

  std::vector<std::unique_ptr<Stream>> streams_;  // open, or with a coroutine
  std::vector<Stream*> due_;
  std::vector<Stream*> due_now_;  // being run
  std::size_t running_ = 0;       // coroutines of streams
  std::uint64_t requests_ = 0;
  std::string_view why_closed_ = "the client ended it";
  FrameBudget budget_;
  std::uint32_t fields_in_block_ = 0;  // that came so far, of the field block that is being received
  SessionSettings announced_;

  std::size_t out_size_ = 0;  // packed into part_.out
  bool out_full_ = false;
  std::string unsent_;  // packed, and not taken by the socket
  net::Gate flush_gate_;
  net::Gate drained_;    // for run(): unsent_ is empty again
  net::Gate over_gate_;  // for run(): a coroutine has ended
  bool in_turn_ = false;
  bool draining_ = false;  // GOAWAY went out, open streams are finished
  bool ended_ = false;     // ended by us, for an error or because it was idle
  bool broken_ = false;    // the socket
  bool over_ = false;      // run() is at its end
  bool flusher_runs_ = false;

  net::SteadyTime idle_until_ = net::kNever;
  net::SteadyTime field_block_until_ = net::kNever;
  net::SteadyTime write_until_ = net::kNever;
  std::size_t untaken_ = 0;  // by the client, when write_until_ was set
  net::SteadyTime check_at_ = net::kNever;  // no deadline of a stream is before it
};

}  // namespace telltale::http2
