// SPDX-License-Identifier: Apache-2.0
#pragma once

// Field names as small numbers, so that the proxy compares bytes once, when a head is parsed, and
// never again. Names it has no use for are kOther; they keep their text in the Field.
//
// **Thread safety:** immutable.
// **Source:** RFC 9110 section 5.1; hop-by-hop fields: section 7.6.1.

#include <cstdint>
#include <string_view>

#include "http/token.h"

namespace telltale::http {

// The order is that of the table in field_name.cc, which is checked when it is compiled.
enum class FieldId : std::uint8_t {
  kOther,
  // Framing, connection, routing.
  kHost, kConnection, kContentLength, kTransferEncoding, kTe, kTrailer, kUpgrade, kKeepAlive,
  kProxyConnection, kHttp2Settings, kExpect, kMaxForwards, kVia, kForwarded, kXForwardedFor, kXForwardedHost,
  kXForwardedProto, kXRealIp, kProxyStatus, kCacheStatus,
  // Authentication and state.
  kAuthorization, kProxyAuthorization, kWwwAuthenticate, kProxyAuthenticate, kAuthenticationInfo,
  kProxyAuthenticationInfo, kCookie, kSetCookie,
  // Caching and conditions.
  kCacheControl, kPragma, kAge, kDate, kExpires, kVary, kEtag, kLastModified, kIfNoneMatch,
  kIfModifiedSince, kIfMatch, kIfUnmodifiedSince, kIfRange, kRange, kContentRange, kAcceptRanges,
  kWarning,
  // Content and negotiation.
  kContentType, kContentEncoding, kContentLanguage, kContentLocation, kContentDisposition, kAccept,
  kAcceptEncoding, kAcceptLanguage, kAcceptCharset,
  // Context.
  kServer, kUserAgent, kLocation, kReferer, kOrigin, kLink, kRefresh, kAllow, kRetryAfter, kFrom,
  kAltSvc, kPriority, kUpgradeInsecureRequests, kStrictTransportSecurity, kXContentTypeOptions,
  kXFrameOptions, kXRequestId, kSecFetchSite, kSecFetchMode, kSecFetchDest, kSecFetchUser, kSecChUa,
  kSecChUaMobile, kSecChUaPlatform, kDnt, kTraceparent,
  kCount
};

// The number of a field name, in any case. Cost: some 10 ns, no allocation.
FieldId field_id(std::string_view name);

// The usual spelling ("Content-Length"); empty for kOther. Lives for ever.
std::string_view field_name(FieldId id);

// True for fields that speak about one connection only, or that the next hop alone may read, and
// are therefore never forwarded: those of RFC 9110 section 7.6.1, Proxy-Authenticate and
// Proxy-Authorization (sections 11.7.1 and 11.7.2), HTTP2-Settings (RFC 7540 section 3.2.1), and Trailer, because
// trailer sections are dropped.
bool is_hop_by_hop(FieldId id);

// True for fields that a peer's Connection field must not remove: what frames, routes or describes
// the message, says how to cache it, or proves who sent it. Includes kOther names X-Forwarded-*.
bool is_guarded(FieldId id, std::string_view name);

}  // namespace telltale::http
