// SPDX-License-Identifier: Apache-2.0
#pragma once
// May this response be stored, and how may it be used then? One function, and a reason that is the debug line.
//
// Stricter than RFC 9111 in one point: a response with Set-Cookie is stored only where its origin allows it
// expressly, with "public" or by naming the field in no-cache="..." or private="...", and always without the
// Set-Cookie.
//
// **Thread safety:** pure functions. **Source:** RFC 9111, sections 3, 3.5, 4.2.2 and 5.2.2.

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "cache/freshness.h"
#include "http/request_head.h"
#include "http/response_head.h"

namespace telltale::cache {

// How a request uses the cache, as far as its method and the names of its fields tell.
struct RequestUse {
  std::string_view why_not{};  // not answered from the cache, nor its answer stored: a fixed sentence; empty: it may be
  bool wrong_method = false;   // that is why
  bool demands = false;        // has Cache-Control or Pragma
  bool condition = false;      // has If-None-Match or If-Modified-Since
  bool range = false;
  bool authorization = false;
};
// Cost: one pass over the fields' ids.
RequestUse how_request_uses_cache(const http::RequestHead& request) noexcept;

struct Verdict {
  std::string_view why_not;  // empty = store it
  std::chrono::seconds lifetime{0};
  std::chrono::seconds initial_age{0};
  std::chrono::seconds stale_if_error{0};
  bool guessed = false;          // the lifetime is from Last-Modified
  bool always_validate = false;  // no-cache
  bool never_stale = false;      // must-revalidate, proxy-revalidate, s-maxage
  std::string selecting{};       // see vary.h

  bool stored() const noexcept { return why_not.empty(); }
  // Others may have it now, without asking the origin.
  bool reusable() const noexcept { return stored() && !always_validate && lifetime > initial_age; }
};
// REQUIRES: the request may use the cache.
Verdict may_store(const http::RequestHead& request, const http::ResponseHead& response, const Heuristic& heuristic,
                  WallTime requested_at, WallTime received_at);
// The same for a stored response that a 304 freshened: `response` is what comes of both. HEAD will do too.
Verdict may_keep(const http::RequestHead& request, const http::ResponseHead& response, const Heuristic& heuristic,
                 WallTime requested_at, WallTime received_at);

// Takes out what may not be given to others: Age, Set-Cookie, and the fields named in no-cache and private.
// REQUIRES: the verdict was to store it.
void remove_unstored_fields(http::Fields& fields);

}  // namespace telltale::cache
