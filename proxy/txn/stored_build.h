// SPDX-License-Identifier: Apache-2.0
#pragma once
// Makes stored responses: from an origin's response that is whole, and from a stored one that a 304 freshened.
//
// **Thread safety:** pure functions. **Source:** RFC 9111, sections 3.1 and 4.3.4.

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "cache/storable.h"
#include "cache/stored_response.h"
#include "http/response_head.h"
#include "net/clock.h"

namespace telltale::txn {

using NewStored = std::shared_ptr<cache::StoredResponse>;  // not yet shared with anybody

// `head` with its end-to-end fields. REQUIRES: the verdict was to store it.
NewStored build_stored(const http::ResponseHead& head, std::string content, const cache::Verdict& verdict,
                       net::SteadyTime received_at);

struct Freshened {
  NewStored stored;        // what the client gets, in any case
  cache::Verdict verdict;  // whether it is kept
  http::Fields for_client; // what the 304 brings for this client alone: the client gets them too
  std::optional<std::chrono::seconds> age;  // where the 304 was not the origin's own, but another cache's
};
// When a request to the origin began and its response's head came.
struct FetchTimes {
  cache::WallTime requested_at;
  cache::WallTime received_at;
  net::SteadyTime received_steady;
};
// REQUIRES: the 304 is about `old`. Cost: copies the fields; the content is shared.
Freshened freshen_stored(const cache::StoredResponse& old, const http::RequestHead& request,
                         const http::ResponseHead& not_modified, const cache::Heuristic& heuristic, const FetchTimes& times);

}  // namespace telltale::txn
