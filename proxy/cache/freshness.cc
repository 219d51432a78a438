// SPDX-License-Identifier: Apache-2.0
#include "cache/freshness.h"

#include <algorithm>

#include "http/date.h"

namespace telltale::cache {
namespace {

using std::chrono::seconds;

constexpr seconds kForever{http::kDeltaMax};

std::optional<WallTime> date_of(const http::Fields& fields, http::FieldId id, WallTime now) {
  const http::Field* field = fields.find(id);
  if (field == nullptr) return std::nullopt;
  auto time = http::parse_date(field->value, std::chrono::system_clock::to_time_t(now));
  if (!time) return std::nullopt;
  return std::chrono::system_clock::from_time_t(*time);
}

seconds clamped(WallTime::duration d) {
  return std::clamp(std::chrono::duration_cast<seconds>(d), seconds{0}, kForever);
}

}  // namespace

std::optional<seconds> freshness_lifetime(const http::Fields& response, const http::CacheControl& control,
                                          WallTime received_at) {
  if (control.s_maxage) return seconds{*control.s_maxage};
  if (control.max_age) return seconds{*control.max_age};
  if (response.find(http::FieldId::kExpires) == nullptr) return std::nullopt;
  if (response.count(http::FieldId::kExpires) > 1) return seconds{0};
  auto expires = date_of(response, http::FieldId::kExpires, received_at);
  if (!expires) return seconds{0};  // "0" and other invalid dates: in the past
  return clamped(*expires - date_of(response, http::FieldId::kDate, received_at).value_or(received_at));
}

seconds initial_age(const http::Fields& response, WallTime requested_at, WallTime received_at) {
  seconds apparent{0};
  if (auto date = date_of(response, http::FieldId::kDate, received_at)) apparent = clamped(received_at - *date);
  seconds corrected = clamped(received_at - requested_at);
  if (const http::Field* age = response.find(http::FieldId::kAge)) {
    corrected += seconds{http::parse_delta_seconds(age->value).value_or(0)};
  }
  return std::max(apparent, corrected);
}

}  // namespace telltale::cache
