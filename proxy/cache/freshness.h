// SPDX-License-Identifier: Apache-2.0
#pragma once
// Freshness arithmetic: how long a response is fresh, and how old it is when it arrives.
//
// What the origin says counts first: s-maxage, max-age, Expires, in this order. A value that is invalid or given
// twice means "already stale". Where it says nothing, a part of the time since Last-Modified is guessed, within
// bounds; without Last-Modified nothing is.
//
// **Thread safety:** pure functions. **Source:** RFC 9111, sections 4.2.1 to 4.2.3.

#include <chrono>
#include <optional>

#include "http/cache_control.h"
#include "http/fields.h"

namespace telltale::cache {

using WallTime = std::chrono::system_clock::time_point;

// How a lifetime is guessed.
struct Heuristic {
  double lm_factor = 0.1;                   // of the time from Last-Modified to Date; 0: nothing is guessed
  std::chrono::seconds lifetime_min{0};     // of what is guessed
  std::chrono::seconds lifetime_max{86400};
};

// Nullopt: the response says nothing about its freshness.
std::optional<std::chrono::seconds> freshness_lifetime(const http::Fields& response, const http::CacheControl& control,
                                                       WallTime received_at);

// Nullopt: there is no Last-Modified to guess from, or one after Date.
std::optional<std::chrono::seconds> heuristic_lifetime(const http::Fields& response, const Heuristic& heuristic,
                                                       WallTime received_at);

// Corrected initial age: the larger of what Age says plus the time the answer took, and the apparent age.
std::chrono::seconds initial_age(const http::Fields& response, WallTime requested_at, WallTime received_at);

}  // namespace telltale::cache
