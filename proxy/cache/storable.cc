// SPDX-License-Identifier: Apache-2.0
#include "cache/storable.h"

namespace telltale::cache {
namespace {

using http::FieldId;

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

}  // namespace

std::string_view why_request_bypasses(const http::RequestHead& request) noexcept {
  if (request.method != http::Method::kGet && request.method != http::Method::kHead) return "the method is not GET or HEAD";
  if (request.framing.kind != http::Framing::kNone) return "the request has content";
  for (const http::Field& field : request.fields) {
    switch (field.id) {
      case FieldId::kRange: case FieldId::kIfRange:
        return "the request asks for a range";
      case FieldId::kIfNoneMatch: case FieldId::kIfModifiedSince: case FieldId::kIfMatch: case FieldId::kIfUnmodifiedSince:
        return "the request is conditional";
      default: break;
    }
  }
  return {};
}

Verdict may_store(const http::RequestHead& request, const http::ResponseHead& response, WallTime requested_at,
                  WallTime received_at) {
  if (request.method != http::Method::kGet) return {"the response to a HEAD has no content"};
  if (!storable_status(response.status)) return {"responses with this status code are not stored"};
  if (request.fields.find(FieldId::kAuthorization) != nullptr) return {"the request has Authorization"};
  if (http::parse_cache_control(request.fields).no_store) return {"the request says no-store"};
  http::CacheControl control = http::parse_cache_control(response.fields);
  if (control.no_store) return {"the response says no-store"};
  if (control.private_) return {"the response says private"};
  if (control.no_cache) return {"the response says no-cache"};
  if (response.fields.find(FieldId::kVary) != nullptr) return {"the response has Vary"};
  if (response.fields.find(FieldId::kContentRange) != nullptr) return {"the response is a part"};
  if (response.fields.find(FieldId::kSetCookie) != nullptr) return {"the response has Set-Cookie"};
  std::optional<std::chrono::seconds> lifetime = freshness_lifetime(response.fields, control, received_at);
  if (!lifetime) return {"the response does not say how long it is fresh"};
  std::chrono::seconds age = initial_age(response.fields, requested_at, received_at);
  if (*lifetime <= age) return {"the response is stale on arrival"};
  return {{}, *lifetime, age};
}

}  // namespace telltale::cache
