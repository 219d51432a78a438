// SPDX-License-Identifier: Apache-2.0
#pragma once

// The Cache-Control directives of a request or a response in one plain struct. Where a field is wrong
// the reading is the careful one: a freshness lifetime that is invalid or given twice is 0 (stale), a
// licence to serve stale that is invalid or given twice is 0 (none), a demand that is invalid is the
// largest one; restricting directives count with or without an argument, permitting ones only without.
//
// **Thread safety:** immutable.
// **Source:** RFC 9111 sections 1.2.2, 4.2.1 and 5.2; RFC 5861; RFC 8246.

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace telltale::http {

class Fields;

// All durations are in seconds and saturate at kDeltaMax.
inline constexpr std::uint32_t kDeltaMax = 2'147'483'648u;

struct CacheControl {
  bool present = false;          // there is a Cache-Control field
  bool no_store = false;
  bool no_cache = false;         // also when qualified
  bool no_cache_fields = false;  // every no-cache names fields: no-cache="set-cookie"
  bool private_ = false;         // also when qualified
  bool private_fields = false;   // every private names fields
  bool public_ = false;
  bool must_revalidate = false;
  bool proxy_revalidate = false;
  bool must_understand = false;
  bool no_transform = false;
  bool immutable = false;
  bool only_if_cached = false;
  bool max_stale_any = false;    // max-stale without a value
  std::optional<std::uint32_t> max_age;
  std::optional<std::uint32_t> s_maxage;
  std::optional<std::uint32_t> stale_while_revalidate;
  std::optional<std::uint32_t> stale_if_error;
  std::optional<std::uint32_t> min_fresh;
  std::optional<std::uint32_t> max_stale;
};

// Reads all Cache-Control fields. Cost: one pass over their values.
CacheControl parse_cache_control(const Fields& fields);

// Calls `visit` with each field name that a no-cache="..." or a private="..." names.
// Cost: as above.
void for_each_named_field(const Fields& fields, const std::function<void(std::string_view)>& visit);

// delta-seconds: digits only, saturating at kDeltaMax; nothing if `text` is anything else.
std::optional<std::uint32_t> parse_delta_seconds(std::string_view text);

}  // namespace telltale::http
