// SPDX-License-Identifier: Apache-2.0
#pragma once

// Request methods. They are case-sensitive: "get" is kOther.
//
// **Thread safety:** immutable.
// **Source:** RFC 9110 section 9; PATCH: RFC 5789.

#include <cstdint>
#include <string_view>

namespace telltale::http {

enum class Method : std::uint8_t { kOther, kGet, kHead, kPost, kPut, kDelete, kConnect, kOptions, kTrace, kPatch };

// For the Allow field of a 405.
inline constexpr std::string_view kMethodsAllowed = "GET, HEAD, POST, PUT, DELETE, OPTIONS, PATCH";

Method method_from(std::string_view text);

// "GET"; empty for kOther, whose text only the request head knows.
std::string_view method_text(Method method);

// True if the method asks for no change of state. kOther is not safe: nobody has said so.
constexpr bool is_safe(Method method) {
  return method == Method::kGet || method == Method::kHead || method == Method::kOptions || method == Method::kTrace;
}

// True if sending the request twice is as good as once, so that it may be tried again on a new
// connection after the old one broke.
constexpr bool is_idempotent(Method method) {
  return is_safe(method) || method == Method::kPut || method == Method::kDelete;
}

}  // namespace telltale::http
