// SPDX-License-Identifier: Apache-2.0
#include "cache/freshness.h"

#include <algorithm>

#include "http/date.h"
#include "http/token.h"

namespace telltale::cache {
namespace {

using std::chrono::seconds;

constexpr seconds kForever{http::kDeltaMax};

// Whole seconds since 1970. Not WallTime: its nanoseconds end in the year 2262, and "31 Dec 9999" is a usual way
// to say "never expires".
seconds since_1970(WallTime time) { return std::chrono::floor<seconds>(time.time_since_epoch()); }

std::optional<seconds> date_of(const http::Fields& fields, http::FieldId id, WallTime now) {
  const http::Field* field = fields.find(id);
  if (field == nullptr) return std::nullopt;
  auto time = http::parse_date(field->value, since_1970(now).count());
  if (!time) return std::nullopt;
  return seconds{*time};
}

seconds clamped(seconds d) { return std::clamp(d, seconds{0}, kForever); }

}  // namespace

std::optional<seconds> freshness_lifetime(const http::Fields& response, const http::CacheControl& control,
                                          WallTime received_at) {
  if (control.s_maxage) return seconds{*control.s_maxage};
  if (control.max_age) return seconds{*control.max_age};
  if (response.find(http::FieldId::kExpires) == nullptr) return std::nullopt;
  if (response.count(http::FieldId::kExpires) > 1) return seconds{0};
  auto expires = date_of(response, http::FieldId::kExpires, received_at);
  if (!expires) return seconds{0};  // "0" and other invalid dates: in the past
  return clamped(*expires - date_of(response, http::FieldId::kDate, received_at).value_or(since_1970(received_at)));
}

std::optional<seconds> heuristic_lifetime(const http::Fields& response, const Heuristic& heuristic, WallTime received_at) {
  if (heuristic.lm_factor <= 0) return std::nullopt;
  auto modified = date_of(response, http::FieldId::kLastModified, received_at);
  if (!modified) return std::nullopt;
  seconds unchanged = date_of(response, http::FieldId::kDate, received_at).value_or(since_1970(received_at)) - *modified;
  if (unchanged < seconds{0}) return std::nullopt;
  seconds guessed{static_cast<std::int64_t>(static_cast<double>(unchanged.count()) * heuristic.lm_factor)};
  return clamped(std::min(std::max(guessed, heuristic.lifetime_min), heuristic.lifetime_max));
}

seconds initial_age(const http::Fields& response, WallTime requested_at, WallTime received_at) {
  seconds apparent{0};
  if (auto date = date_of(response, http::FieldId::kDate, received_at)) apparent = clamped(since_1970(received_at) - *date);
  seconds corrected = clamped(std::chrono::duration_cast<seconds>(received_at - requested_at));
  if (const http::Field* age = response.find(http::FieldId::kAge)) {
    std::string_view list = age->value;  // no list is allowed, but where there is one its first member counts
    corrected += seconds{http::parse_delta_seconds(http::next_item(list)).value_or(0)};
  }
  return std::max(apparent, corrected);
}

}  // namespace telltale::cache
