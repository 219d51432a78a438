// SPDX-License-Identifier: Apache-2.0
#pragma once

// Removes what must not travel further than one connection.
//
// **Thread safety:** immutable.
// **Source:** RFC 9110 section 7.6.1.

#include <cstddef>

#include "http/fields.h"

namespace telltale::http1 {

// Removes the hop-by-hop fields (http::is_hop_by_hop) and every field that a Connection field names, except
// those a peer must not be able to take away (http::is_guarded): Host, Content-Length, X-Forwarded-For, ...
// Returns how many went. Add the proxy's own fields afterwards.
// Cost: options of Connection times fields; both are limited by the head parser.
std::size_t strip_hop_by_hop(http::Fields& fields);

}  // namespace telltale::http1
