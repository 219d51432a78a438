// SPDX-License-Identifier: Apache-2.0
#pragma once
// What else a successful change through the proxy makes invalid: the targets that the response's Location and
// Content-Location name, where they are on the same origin as the request.
//
// **Thread safety:** pure functions. **Source:** RFC 9111, section 4.4; RFC 3986, section 5.

#include <optional>
#include <string>
#include <string_view>

#include "http/authority.h"

namespace telltale::cache {

// A URI reference, resolved as far as it is needed here.
struct ResolvedReference {
  http::Authority authority;  // empty: that of the request
  std::string target;         // origin-form: path and query, no fragment
};

// Resolves `reference` against the target of a request. Nullopt: another scheme than http, or it cannot be read.
std::optional<ResolvedReference> resolve_reference(std::string_view reference, std::string_view base_target);

}  // namespace telltale::cache
