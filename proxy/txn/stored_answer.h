// SPDX-License-Identifier: Apache-2.0
#pragma once
// The answer to a request from a stored response that is not simply the whole of it: 304 for a client that has it, 206
// or 416 for a range; and the whole as a head of fields, where hooks or a Cache-Status want one.
//
// **Thread safety:** pure functions. **Source:** RFC 9110, sections 13.2.2, 15.3.7, 15.4.5 and 15.5.17.

#include <chrono>
#include <optional>
#include <string_view>

#include "cache/stored_response.h"
#include "http/request_head.h"
#include "http/response_head.h"

namespace telltale::txn {

struct StoredAnswer {
  http::ResponseHead head;   // owns its fields
  std::string_view content;  // of the stored response
};

// Conditions come before the range. `age`: none for a response that the origin validated just now.
StoredAnswer stored_answer(const http::RequestHead& request, const cache::StoredResponse& stored,
                           std::optional<std::chrono::seconds> age);

}  // namespace telltale::txn
