// SPDX-License-Identifier: Apache-2.0
#include "cache/storable.h"

#include <bit>
#include <vector>

#include "cache/vary.h"
#include "http/token.h"

namespace telltale::cache {
namespace {

using http::FieldId;
using std::chrono::seconds;

// Status codes whose meaning we know and that may be stored with explicit freshness. 206 and 304 need
// combining, which is not built.
bool storable_status(std::uint16_t status) {
  switch (status) {
    case 200: case 203: case 204: case 300: case 301: case 302: case 307: case 308: case 404: case 405: case 410:
    case 414: case 501:
      return true;
    default:
      return false;
  }
}

// Those among them that may be stored although nothing is said (RFC 9110, 15.1).
bool heuristic_status(std::uint16_t status) { return status != 302 && status != 307; }

// 0 for the ids from 64 on; none that matters is among them.
constexpr std::uint64_t bit(FieldId id) {
  const auto number = static_cast<unsigned>(id);
  return number < 64 ? std::uint64_t{1} << number : 0;
}

constexpr std::uint64_t kMatters = bit(FieldId::kCacheControl) | bit(FieldId::kPragma) | bit(FieldId::kIfNoneMatch) |
                                   bit(FieldId::kIfModifiedSince) | bit(FieldId::kRange) | bit(FieldId::kAuthorization) |
                                   bit(FieldId::kIfMatch) | bit(FieldId::kIfUnmodifiedSince);
static_assert(std::popcount(kMatters) == 8);

// A 304 can only say that content is unchanged.
bool can_be_validated(const http::ResponseHead& response) {
  return (response.status == 200 || response.status == 203) &&
         (response.fields.find(FieldId::kEtag) != nullptr || response.fields.find(FieldId::kLastModified) != nullptr);
}

struct NamedFields {
  bool set_cookie = false;
  bool needed = false;  // one that the content cannot be understood without
};

NamedFields named_fields(const http::Fields& fields) {
  NamedFields named;
  http::for_each_named_field(fields, [&](std::string_view name) {
    const FieldId id = http::field_id(name);
    named.set_cookie = named.set_cookie || id == FieldId::kSetCookie;
    named.needed = named.needed || (id != FieldId::kSetCookie && http::is_guarded(id, name));
  });
  return named;
}

std::string_view why_not_with_authorization(const http::CacheControl& control) {
  if (control.public_ || control.s_maxage || control.must_revalidate) return {};
  return "the request has Authorization, and the response does not say public, s-maxage or must-revalidate";
}

// All but freshness.
std::string_view why_not_store(const http::RequestHead& request, const http::ResponseHead& response,
                               const http::CacheControl& control, const NamedFields& named) {
  if (response.status == 206) return "the response is a part";
  if (!storable_status(response.status)) return "responses with this status code are not stored";
  if (http::parse_cache_control(request.fields).no_store) return "the request says no-store";
  if (control.no_store && !control.must_understand) return "the response says no-store";
  if (control.private_ && !control.private_fields) return "the response says private";
  if (control.private_ && named.needed) return "the response is private in a field it cannot do without";
  if (response.fields.find(FieldId::kContentRange) != nullptr) return "the response is a part";
  if (response.fields.find(FieldId::kSetCookie) != nullptr && !control.public_ && !named.set_cookie) {
    return "the response has Set-Cookie and does not say public";
  }
  if (request.fields.find(FieldId::kAuthorization) != nullptr) return why_not_with_authorization(control);
  return {};
}

}  // namespace

// One bit for each field name there is: few requests have any that matters here, and those that have none are told
// so by a few instructions for each field and one comparison.
RequestUse how_request_uses_cache(const http::RequestHead& request) noexcept {
  std::uint64_t seen = 0;
  for (const http::Field& field : request.fields) seen |= bit(field.id);
  RequestUse use;
  if ((seen & kMatters) != 0) {
    use.demands = (seen & (bit(FieldId::kCacheControl) | bit(FieldId::kPragma))) != 0;
    use.condition = (seen & (bit(FieldId::kIfNoneMatch) | bit(FieldId::kIfModifiedSince))) != 0;
    use.range = (seen & bit(FieldId::kRange)) != 0;
    use.authorization = (seen & bit(FieldId::kAuthorization)) != 0;
    if ((seen & (bit(FieldId::kIfMatch) | bit(FieldId::kIfUnmodifiedSince))) != 0) {
      use.why_not = "the request has a condition that only the origin can judge";
    }
  }
  if (request.framing.kind != http::Framing::kNone) use.why_not = "the request has content";
  use.wrong_method = request.method != http::Method::kGet && request.method != http::Method::kHead;
  if (use.wrong_method) use.why_not = "the method is not GET or HEAD";
  return use;
}

Verdict may_store(const http::RequestHead& request, const http::ResponseHead& response, const Heuristic& heuristic,
                  WallTime requested_at, WallTime received_at) {
  if (request.method != http::Method::kGet) return {"the response to a HEAD has no content"};
  return may_keep(request, response, heuristic, requested_at, received_at);
}

Verdict may_keep(const http::RequestHead& request, const http::ResponseHead& response, const Heuristic& heuristic,
                 WallTime requested_at, WallTime received_at) {
  const http::CacheControl control = http::parse_cache_control(response.fields);
  const NamedFields named = named_fields(response.fields);
  if (std::string_view why_not = why_not_store(request, response, control, named); !why_not.empty()) return {why_not};
  std::optional<std::string> selecting = selecting_text(response.fields, request.fields);
  if (!selecting) return {"the response has a Vary that no other request matches"};

  Verdict verdict;
  verdict.selecting = std::move(*selecting);
  verdict.always_validate = control.no_cache && (!control.no_cache_fields || named.needed);
  verdict.never_stale = control.must_revalidate || control.proxy_revalidate || control.s_maxage.has_value();
  verdict.stale_if_error = seconds{control.stale_if_error.value_or(0)};
  verdict.initial_age = initial_age(response.fields, requested_at, received_at);
  std::optional<seconds> lifetime = freshness_lifetime(response.fields, control, received_at);
  if (!lifetime && (heuristic_status(response.status) || control.public_)) {
    lifetime = heuristic_lifetime(response.fields, heuristic, received_at);
    verdict.guessed = lifetime.has_value();
  }
  verdict.lifetime = lifetime.value_or(seconds{0});
  if (verdict.reusable() || can_be_validated(response)) return verdict;
  if (verdict.always_validate) return {"the response says no-cache and has no validator"};
  if (!lifetime) return {"the response does not say how long it is fresh, and has no validator"};
  return {"the response is stale on arrival and has no validator"};
}

void remove_unstored_fields(http::Fields& fields) {
  std::vector<std::string_view> names;
  http::for_each_named_field(fields, [&](std::string_view name) {
    if (!http::is_guarded(http::field_id(name), name)) names.push_back(name);
  });
  fields.remove_if([&](const http::Field& field) {
    if (field.id == FieldId::kAge || field.id == FieldId::kSetCookie) return true;
    for (std::string_view name : names) {
      if (http::equal_nocase(name, field.name)) return true;
    }
    return false;
  });
}

}  // namespace telltale::cache
