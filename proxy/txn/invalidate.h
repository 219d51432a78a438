// SPDX-License-Identifier: Apache-2.0
#pragma once
// Takes out of the cache what a change through the proxy has made invalid: the resource itself, and what Location and
// Content-Location name on the same origin.
//
// **Thread safety:** loop-bound. **Source:** RFC 9111, section 4.4.

#include <fmt/format.h>

#include "http/request_head.h"
#include "http/response_head.h"
#include "remap/mapping.h"
#include "txn/resource.h"
#include "txn/worker_state.h"

namespace telltale::txn {

// The key's text before the target.
inline void append_key_prefix(cache::KeyText& out, const remap::Mapping& rule, const http::RequestHead& request, bool pristine_host) {
  out.append(rule.origin_url);
  if (pristine_host) {  // the origin gets the client's Host, which then decides what it answers
    out.append(fmt::format("({}:{})", request.authority.host(), request.authority.port()));
  }
}

// REQUIRES: the method is not safe and the response is no error.
void invalidate_after(WorkerState& state, const Runtime& runtime, const http::RequestHead& request,
                      const http::ResponseHead& response, const remap::Mapping& rule, const Resource& resource);

}  // namespace telltale::txn
