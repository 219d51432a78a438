// SPDX-License-Identifier: Apache-2.0
#pragma once
// One exchange with an origin: the request of a transaction sent, its response head read, its content handed
// out piece by piece.
//
// The request's content is sent by a coroutine of its own (upload), so that an origin that answers early is
// heard at once. A reused connection that turns out to be dead before the first byte of a response is replaced
// once, if sending the request again is harmless.
//
//   begin() -> failure           nothing more to do
//   begin() -> response()        then read_content() until it is not kData, then end()
//
// **Thread safety:** loop-bound. **Source:** RFC 9110, sections 7 and 10.1.1; RFC 9112, section 9.3.

#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "http/exchange.h"
#include "http/failure.h"
#include "net/gate.h"
#include "origin/pool.h"
#include "txn/worker_state.h"

namespace telltale::txn {

// Why there is no response from the origin.
struct FetchFailure {
  http::Failure failure;
  std::uint16_t status;     // what the client is told
  std::string_view reason;  // a fixed sentence
};

class OriginFetch {
 public:
  // `fields` are the request's, ready for the origin; all else of the request is the exchange's. All must outlive
  // the fetch.
  OriginFetch(WorkerState& state, http::Exchange& exchange, const origin::Authority& origin, std::string_view target,
              const http::Fields& fields, std::chrono::seconds inactivity_max);
  // REQUIRES: end() has been awaited, or begin() failed.
  ~OriginFetch();

  net::Task<tl::expected<void, FetchFailure>> begin();

  // Views live until end(). Hop-by-hop fields are there still.
  http::ResponseHead& response() noexcept { return response_; }

  net::Task<http::Content> read_content() { return connection_->content.next(inactivity_max_); }
  // The next read will not wait for the network.
  bool content_buffered() const noexcept { return connection_->content.buffered(); }

  // The client does not want the answer any more: what waits for the origin ends soon, and what was brought is not
  // whole. Resumes nobody.
  void abandon() noexcept;
  bool abandoned() const noexcept { return abandoned_; }
  // The client's content is still on its way: end() breaks it off.
  bool uploading() const noexcept { return uploading_; }
  // When the connection was there, new or reused, and when the final head had come; the epoch: never.
  net::SteadyTime connected_at() const noexcept { return connected_at_; }
  net::SteadyTime head_at() const noexcept { return head_at_; }

  // Gives the connection back, or closes it where the exchange did not come to a clean end.
  net::Task<void> end();

 private:
  enum class Step : std::uint8_t { kDone, kRetry, kFailed };

  net::Task<Step> connect(bool allow_reuse);
  net::Task<Step> exchange_heads();
  net::Task<bool> send_head();
  net::Task<Step> read_head();
  net::Task<bool> origin_speaks_within(std::chrono::seconds time);
  net::Detached upload();
  Step fail(http::Failure failure, std::uint16_t status, std::string_view reason);
  Step lost(http::Failure failure, std::string_view reason);
  std::string_view why_not_kept() const noexcept;

  // Constant after construction.
  WorkerState& state_;
  http::Exchange& exchange_;
  const origin::Authority& origin_;
  const std::string_view target_;
  const http::Fields& fields_;
  const std::chrono::seconds inactivity_max_;

  origin::ConnectionPtr connection_;
  http::ResponseHead response_;
  FetchFailure failure_{http::Failure::kNone, 0, {}};
  bool reused_ = false;
  bool answered_ = false;               // response_ is a final head
  bool upload_begun_ = false;
  bool uploading_ = false;
  bool stalled_ = false;                // the origin took nothing for too long
  bool uploaded_ = false;               // the whole request is with the origin
  http::Content::State client_ended_ = http::Content::kEnd;  // else why the client's content stopped
  bool abandoned_ = false;
  net::SteadyTime connected_at_{};
  net::SteadyTime head_at_{};
  net::Gate upload_over_;
};

}  // namespace telltale::txn
