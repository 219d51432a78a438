// SPDX-License-Identifier: Apache-2.0
#pragma once
// Freshness arithmetic: how long a response is fresh, and how old it is when it arrives.
//
// Only explicit freshness counts: s-maxage, max-age, Expires, in this order. A value that is invalid or
// given twice means "already stale". Nothing is guessed from Last-Modified.
//
// **Thread safety:** pure functions. **Source:** RFC 9111, sections 4.2.1 and 4.2.3.

#include <chrono>
#include <optional>

#include "http/cache_control.h"
#include "http/fields.h"

namespace telltale::cache {

using WallTime = std::chrono::system_clock::time_point;

// Nullopt: the response says nothing about its freshness.
std::optional<std::chrono::seconds> freshness_lifetime(const http::Fields& response, const http::CacheControl& control,
                                                       WallTime received_at);

// Corrected initial age: the larger of what Age says plus the time the answer took, and the apparent age.
std::chrono::seconds initial_age(const http::Fields& response, WallTime requested_at, WallTime received_at);

}  // namespace telltale::cache
