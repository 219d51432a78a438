// SPDX-License-Identifier: Apache-2.0
#include "cache/reuse.h"

#include "http/token.h"

namespace telltale::cache {

using std::chrono::seconds;

http::CacheControl client_demands(const http::Fields& request) {
  http::CacheControl demands = http::parse_cache_control(request);
  if (demands.present) return demands;
  for (const http::Field& field : request) {
    if (field.id != http::FieldId::kPragma) continue;
    for (std::string_view rest = field.value;;) {
      std::string_view item = http::next_item(rest);
      if (item.empty()) break;
      if (http::equal_nocase(item, "no-cache")) demands.no_cache = true;
    }
  }
  return demands;
}

Reuse judge(const StoredResponse& stored, const http::CacheControl& demands, seconds age) noexcept {
  if (demands.no_cache) return {Reuse::kRefused, "the client says no-cache"};
  if (stored.always_validate) return {Reuse::kTooOld, "the response says no-cache"};
  if (demands.max_age && age > seconds{*demands.max_age}) return {Reuse::kRefused, "the client's max-age is smaller"};
  const seconds left = stored.lifetime - age;  // below 0: for how long it has been stale
  if (demands.min_fresh && left < seconds{*demands.min_fresh}) return {Reuse::kRefused, "the client's min-fresh is larger"};
  if (left > seconds{0}) return {Reuse::kFresh};
  if (!demands.max_stale_any && !(demands.max_stale && -left <= seconds{*demands.max_stale})) {
    return {Reuse::kTooOld, "its lifetime is over"};
  }
  if (stored.never_stale) return {Reuse::kTooOld, "its lifetime is over, and it may not be used stale"};
  return {Reuse::kStale, "the client takes it stale"};
}

}  // namespace telltale::cache
