// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reason phrases of the registered status codes.
//
// **Thread safety:** immutable.
// **Source:** RFC 9110 section 15 and the IANA status code registry.

#include <cstdint>
#include <string_view>

namespace telltale::http {

// "Not Found" for 404; "Unknown" for a code that is not registered. Lives for ever.
std::string_view reason_phrase(std::uint16_t status);

}  // namespace telltale::http
