// SPDX-License-Identifier: Apache-2.0
#pragma once
// The control protocol: an HTTP request's method, target and content become a call of Target, its result
// becomes JSON. Moves no bytes; docs/control.md describes it for those who write clients.
//
// Every answer is one JSON object with "version": kProtocolVersion (protocol.h). A refused request has "errors", a
// list of at least one {"what", "where"?, "offset"?}, and a status code that says whose fault it was:
//   400 not understood      404 no such path     405 wrong method (with Allow)
//   409 would widen debug output from some clients to all, without saying so
//   422 understood and refused by the daemon     500 the daemon failed
// The server adds 403, 408, 413, 431 and 503 for what never gets here.
//
// Content is read strictly: an unknown or misspelt member is refused, because a client_ip that nobody
// read would show every client's requests.
//
// **Thread safety:** loop-bound, as Target is.

#include <string>
#include <string_view>

#include "control/target.h"

namespace telltale::control {

struct Answer {
  unsigned status = 200;
  std::string json;         // ends with '\n'
  std::string allow = {};   // for 405: the methods that the path has
  std::string change = {};  // what was changed, for the log; empty: nothing
  bool stop = false;        // call Target::stop() once this has been sent
};

// Never throws: an exception of the target becomes a 500.
// `peer`: who asks, for the leases.
[[nodiscard]] Answer answer(Target& target, std::string_view method, std::string_view request_target,
                            std::string_view content, std::string_view peer = {}) noexcept;

// An answer that refuses.
[[nodiscard]] Answer refusal(unsigned status, std::string_view what);

}  // namespace telltale::control
