// SPDX-License-Identifier: Apache-2.0
#pragma once
// May this response be stored? One function, and a reason that is the debug line.
//
// **Thread safety:** pure functions. **Source:** RFC 9111, section 3. Stricter where what it allows is
// not built: a response with Vary, or to a request with Authorization, is not stored.

#include <chrono>
#include <cstdint>
#include <string_view>

#include "cache/freshness.h"
#include "http/request_head.h"
#include "http/response_head.h"

namespace telltale::cache {

// May this request be answered from the cache at all, and may its answer be stored? Empty = yes;
// otherwise why not, a fixed sentence.
std::string_view why_request_bypasses(const http::RequestHead& request) noexcept;

struct Verdict {
  std::string_view why_not;  // empty = store it
  std::chrono::seconds lifetime{0};
  std::chrono::seconds initial_age{0};
};
// REQUIRES: why_request_bypasses(request) is empty.
Verdict may_store(const http::RequestHead& request, const http::ResponseHead& response, WallTime requested_at,
                  WallTime received_at);

}  // namespace telltale::cache
