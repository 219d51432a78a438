// SPDX-License-Identifier: Apache-2.0
#pragma once
// May a stored response answer this request as it is? The response's own rules, its age, and what the client demands.
//
//                                  | fresh                        | stale
//   response says no-cache         | validate                     | validate
//   client: no-cache               | validate                     | validate
//   client: max-age=N              | used if age <= N             | validate if age > N, else as below
//   client: min-fresh=N            | used if fresh for N s more   | validate
//   client: max-stale[=N]          | used                         | used (if stale for at most N s), unless the response
//                                  |                              | says must-revalidate, proxy-revalidate or s-maxage
//   nothing of these               | used                         | validate
//
// **Thread safety:** pure functions. **Source:** RFC 9111, sections 4.2.4, 5.2.1 and 5.4.

#include <chrono>
#include <string_view>

#include "cache/stored_response.h"
#include "http/cache_control.h"
#include "http/fields.h"

namespace telltale::cache {

// What the client demands: Cache-Control, or Pragma: no-cache where there is none.
http::CacheControl client_demands(const http::Fields& request);

struct Reuse {
  enum State : std::uint8_t {
    kFresh,    // use it
    kStale,    // use it although it is stale: the client allows that
    kTooOld,   // stale, or the origin wants to be asked each time: `why`
    kRefused,  // the client wants the origin asked or a fresher one: `why`
  };
  State state;
  std::string_view why{};  // a fixed phrase

  bool usable() const noexcept { return state <= kStale; }
};
// Cost: a few comparisons.
Reuse judge(const StoredResponse& stored, const http::CacheControl& demands, std::chrono::seconds age) noexcept;

}  // namespace telltale::cache
