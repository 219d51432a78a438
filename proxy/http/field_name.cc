// SPDX-License-Identifier: Apache-2.0
//
// Finding a name: names of the same length lie together, so one table look-up leaves at most a dozen
// candidates. The name is read as words of eight bytes that may overlap, each lowered as a whole, and its
// first word nearly always leaves one candidate or none. A hash would have to read the name too and then
// compare it once more. The slow reference is in tests/unit/http/field_name_test.cc.
#include "http/field_name.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <type_traits>

namespace telltale::http {
namespace {

struct Entry {
  FieldId id;
  std::string_view name;
};

constexpr auto kCount = static_cast<std::size_t>(FieldId::kCount);

constexpr std::array<Entry, kCount> kNames{{
    {FieldId::kOther, ""},
    {FieldId::kHost, "Host"},
    {FieldId::kConnection, "Connection"},
    {FieldId::kContentLength, "Content-Length"},
    {FieldId::kTransferEncoding, "Transfer-Encoding"},
    {FieldId::kTe, "TE"},
    {FieldId::kTrailer, "Trailer"},
    {FieldId::kUpgrade, "Upgrade"},
    {FieldId::kKeepAlive, "Keep-Alive"},
    {FieldId::kProxyConnection, "Proxy-Connection"},
    {FieldId::kHttp2Settings, "HTTP2-Settings"},
    {FieldId::kExpect, "Expect"},
    {FieldId::kMaxForwards, "Max-Forwards"},
    {FieldId::kVia, "Via"},
    {FieldId::kForwarded, "Forwarded"},
    {FieldId::kXForwardedFor, "X-Forwarded-For"},
    {FieldId::kXForwardedHost, "X-Forwarded-Host"},
    {FieldId::kXForwardedProto, "X-Forwarded-Proto"},
    {FieldId::kXRealIp, "X-Real-IP"},
    {FieldId::kProxyStatus, "Proxy-Status"},
    {FieldId::kCacheStatus, "Cache-Status"},
    {FieldId::kAuthorization, "Authorization"},
    {FieldId::kProxyAuthorization, "Proxy-Authorization"},
    {FieldId::kWwwAuthenticate, "WWW-Authenticate"},
    {FieldId::kProxyAuthenticate, "Proxy-Authenticate"},
    {FieldId::kAuthenticationInfo, "Authentication-Info"},
    {FieldId::kProxyAuthenticationInfo, "Proxy-Authentication-Info"},
    {FieldId::kCookie, "Cookie"},
    {FieldId::kSetCookie, "Set-Cookie"},
    {FieldId::kCacheControl, "Cache-Control"},
    {FieldId::kPragma, "Pragma"},
    {FieldId::kAge, "Age"},
    {FieldId::kDate, "Date"},
    {FieldId::kExpires, "Expires"},
    {FieldId::kVary, "Vary"},
    {FieldId::kEtag, "ETag"},
    {FieldId::kLastModified, "Last-Modified"},
    {FieldId::kIfNoneMatch, "If-None-Match"},
    {FieldId::kIfModifiedSince, "If-Modified-Since"},
    {FieldId::kIfMatch, "If-Match"},
    {FieldId::kIfUnmodifiedSince, "If-Unmodified-Since"},
    {FieldId::kIfRange, "If-Range"},
    {FieldId::kRange, "Range"},
    {FieldId::kContentRange, "Content-Range"},
    {FieldId::kAcceptRanges, "Accept-Ranges"},
    {FieldId::kWarning, "Warning"},
    {FieldId::kContentType, "Content-Type"},
    {FieldId::kContentEncoding, "Content-Encoding"},
    {FieldId::kContentLanguage, "Content-Language"},
    {FieldId::kContentLocation, "Content-Location"},
    {FieldId::kContentDisposition, "Content-Disposition"},
    {FieldId::kAccept, "Accept"},
    {FieldId::kAcceptEncoding, "Accept-Encoding"},
    {FieldId::kAcceptLanguage, "Accept-Language"},
    {FieldId::kAcceptCharset, "Accept-Charset"},
    {FieldId::kServer, "Server"},
    {FieldId::kUserAgent, "User-Agent"},
    {FieldId::kLocation, "Location"},
    {FieldId::kReferer, "Referer"},
    {FieldId::kOrigin, "Origin"},
    {FieldId::kLink, "Link"},
    {FieldId::kRefresh, "Refresh"},
    {FieldId::kAllow, "Allow"},
    {FieldId::kRetryAfter, "Retry-After"},
    {FieldId::kFrom, "From"},
    {FieldId::kAltSvc, "Alt-Svc"},
    {FieldId::kPriority, "Priority"},
    {FieldId::kUpgradeInsecureRequests, "Upgrade-Insecure-Requests"},
    {FieldId::kStrictTransportSecurity, "Strict-Transport-Security"},
    {FieldId::kXContentTypeOptions, "X-Content-Type-Options"},
    {FieldId::kXFrameOptions, "X-Frame-Options"},
    {FieldId::kXRequestId, "X-Request-ID"},
    {FieldId::kSecFetchSite, "Sec-Fetch-Site"},
    {FieldId::kSecFetchMode, "Sec-Fetch-Mode"},
    {FieldId::kSecFetchDest, "Sec-Fetch-Dest"},
    {FieldId::kSecFetchUser, "Sec-Fetch-User"},
    {FieldId::kSecChUa, "Sec-CH-UA"},
    {FieldId::kSecChUaMobile, "Sec-CH-UA-Mobile"},
    {FieldId::kSecChUaPlatform, "Sec-CH-UA-Platform"},
    {FieldId::kDnt, "DNT"},
    {FieldId::kTraceparent, "Traceparent"},
}};

constexpr bool in_order() {
  for (std::size_t i = 0; i < kCount; ++i) {
    if (static_cast<std::size_t>(kNames[i].id) != i) return false;
  }
  return true;
}
static_assert(in_order(), "kNames must list every FieldId in the order of the enum");

constexpr std::size_t kLongest = 25;

using Word = std::uint64_t;

template <class Number>
constexpr Number load(const char* at) {
  if (std::is_constant_evaluated()) {
    std::array<char, sizeof(Number)> bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = at[i];
    return std::bit_cast<Number>(bytes);
  }
  Number number;
  std::memcpy(&number, at, sizeof number);
  return number;
}

// Each byte as lower() makes it. Seven bits of each are added to, so that no carry reaches the next one.
constexpr Word lower_all(Word word) {
  constexpr Word kEach = 0x0101010101010101U;
  const Word seven = word & (kEach * 0x7f);
  const Word letter = (seven + kEach * (0x80 - 'A')) ^ (seven + kEach * (0x7f - 'Z'));
  return word | ((letter & ~word & (kEach * 0x80)) >> 2);
}

// The first word of a name; one of less than eight bytes is in it entirely.
constexpr Word first_word(std::string_view name) {
  const char* const p = name.data();
  const std::size_t n = name.size();
  if (n >= 8) return lower_all(load<Word>(p));
  if (n >= 4) return lower_all(load<std::uint32_t>(p) | Word{load<std::uint32_t>(p + n - 4)} << 32);
  const auto byte = [p](std::size_t i) { return Word{static_cast<unsigned char>(p[i])}; };
  return lower_all(byte(0) | byte(n / 2) << 8 | byte(n - 1) << 16);
}

// One of the words that together with the first cover a name of 9 to 32 bytes.
constexpr Word further_word(std::string_view name, std::size_t number) {
  return lower_all(load<Word>(name.data() + std::min(8 * number, name.size() - 8)));
}
constexpr std::size_t kFurtherWords = 3;

// Ids sorted by the length of their names; those of length n are ids[first[n]] to ids[first[n + 1]].
struct Index {
  std::array<std::uint8_t, kLongest + 2> first{};
  std::array<FieldId, kCount> ids{};
  std::array<Word, kCount> words{};  // parallel to ids, as the next one
  std::array<std::array<Word, kFurtherWords>, kCount> further{};
};

constexpr Index make_index() {
  Index index;
  std::size_t next = 0;
  for (std::size_t length = 0; length <= kLongest; ++length) {
    index.first[length] = static_cast<std::uint8_t>(next);
    for (const Entry& entry : kNames) {
      if (entry.name.size() != length) continue;
      if (length != 0) index.words[next] = first_word(entry.name);
      for (std::size_t i = 0; length > 8 && i < kFurtherWords; ++i) {
        index.further[next][i] = further_word(entry.name, i + 1);
      }
      index.ids[next++] = entry.id;
    }
  }
  index.first[kLongest + 1] = static_cast<std::uint8_t>(next);
  return index;
}
constexpr Index kIndex = make_index();
static_assert(kIndex.first[kLongest + 1] == kCount, "kLongest is the length of the longest name");
static_assert(kLongest <= 8 * (1 + kFurtherWords));

}  // namespace

FieldId field_id(std::string_view name) {
  const std::size_t length = name.size();
  if (length == 0 || length > kLongest) return FieldId::kOther;
  const Word word = first_word(name);
  for (std::size_t i = kIndex.first[length]; i < kIndex.first[length + 1]; ++i) {
    if (kIndex.words[i] != word) continue;
    bool equal = true;
    for (std::size_t k = 1; equal && 8 * k < length; ++k) equal = kIndex.further[i][k - 1] == further_word(name, k);
    if (equal) return kIndex.ids[i];
  }
  return FieldId::kOther;
}

std::string_view field_name(FieldId id) {
  const auto at = static_cast<std::size_t>(id);
  return at < kCount ? kNames[at].name : std::string_view{};
}

bool is_hop_by_hop(FieldId id) {
  switch (id) {
    case FieldId::kConnection:
    case FieldId::kKeepAlive:
    case FieldId::kProxyConnection:
    case FieldId::kHttp2Settings:
    case FieldId::kTe:
    case FieldId::kTrailer:
    case FieldId::kTransferEncoding:
    case FieldId::kUpgrade:
    case FieldId::kProxyAuthenticate:
    case FieldId::kProxyAuthorization:
      return true;
    default:
      return false;
  }
}

bool is_guarded(FieldId id, std::string_view name) {
  switch (id) {
    case FieldId::kHost:
    case FieldId::kContentLength:
    case FieldId::kContentType:
    case FieldId::kContentEncoding:
    case FieldId::kContentRange:
    case FieldId::kContentLocation:
    case FieldId::kExpect:
    case FieldId::kMaxForwards:
    case FieldId::kVia:
    case FieldId::kForwarded:
    case FieldId::kXForwardedFor:
    case FieldId::kXForwardedHost:
    case FieldId::kXForwardedProto:
    case FieldId::kXRealIp:
    case FieldId::kProxyStatus:
    case FieldId::kCacheStatus:
    case FieldId::kAuthorization:
    case FieldId::kWwwAuthenticate:
    case FieldId::kCookie:
    case FieldId::kSetCookie:
    case FieldId::kCacheControl:
    case FieldId::kPragma:
    case FieldId::kAge:
    case FieldId::kDate:
    case FieldId::kExpires:
    case FieldId::kVary:
    case FieldId::kEtag:
    case FieldId::kLastModified:
    case FieldId::kIfNoneMatch:
    case FieldId::kIfModifiedSince:
    case FieldId::kIfMatch:
    case FieldId::kIfUnmodifiedSince:
    case FieldId::kIfRange:
    case FieldId::kRange:
    case FieldId::kLocation:
    case FieldId::kOrigin:
    case FieldId::kReferer:
    case FieldId::kStrictTransportSecurity:
      return true;
    case FieldId::kOther: {
      constexpr std::string_view kForwarded = "X-Forwarded-";
      return name.size() > kForwarded.size() && equal_nocase(name.substr(0, kForwarded.size()), kForwarded);
    }
    default:
      return false;
  }
}

}  // namespace telltale::http
