// SPDX-License-Identifier: Apache-2.0
#pragma once
// From a compiler's pretty signature to the name a reader looks for: "on_request".
//
// Takes what g++ and clang give for __PRETTY_FUNCTION__ (also inside a site's local struct, whose own
// part is removed) and for source_location::function_name(). No namespaces, no parameters, no template
// arguments; of a lambda, the function it is written in. Text it does not understand comes back whole.
// Used for level lines by the backend and for sites by the registry.
//
// **Thread safety:** immutable. Cost: no allocation; the result points into `signature`.

#include <string_view>

namespace telltale::diag {

std::string_view short_function(std::string_view signature) noexcept;

}  // namespace telltale::diag
