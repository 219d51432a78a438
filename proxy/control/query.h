// SPDX-License-Identifier: Apache-2.0
#pragma once
// The target of a control request: "/v1/config?name=proxy.config.x". Percent-encoded, and '+' is a plus:
// it stands in many patterns.
//
// **Thread safety:** thread-safe.
// **Source:** RFC 3986, sections 2.1 and 3.4.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

namespace telltale::control {

struct RequestTarget {
  std::string path;
  std::vector<std::pair<std::string, std::string>> parameters;  // decoded, in order
};

// Errors, as sentences: not a path, a broken percent-encoding, a parameter without '=', a name that
// stands twice, bytes that are not UTF-8.
[[nodiscard]] tl::expected<RequestTarget, std::string> parse_target(std::string_view target);

// Encodes all but letters, digits and "-._~".
[[nodiscard]] std::string percent_encode(std::string_view text);

}  // namespace telltale::control
