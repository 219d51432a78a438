// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the proxy answers itself where there is no response to hand on: one line of text, and why in Proxy-Status.
//
// **Thread safety:** pure functions. **Source:** RFC 9209.

#include <cstdint>
#include <string>
#include <string_view>

#include "http/failure.h"
#include "http/response_head.h"
#include "net/clock.h"

namespace telltale::http {

struct OwnAnswer {
  ResponseHead head;
  std::string text;
};
// `reason` is a fixed sentence.
OwnAnswer own_answer(Failure failure, std::uint16_t status, std::string_view reason, net::WallTime now);

// Adds a Date with this time.
void add_date(Fields& fields, net::WallTime now);

}  // namespace telltale::http
