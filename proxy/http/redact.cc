// SPDX-License-Identifier: Apache-2.0
//
// Field values by kind. The rule for each: write a byte only where it is known not to be part of a secret.
#include "http/redact.h"

#include <algorithm>
#include <array>

#include "http/append_text.h"
#include "http/redaction.h"
#include "http/token.h"

namespace telltale::http {
namespace {

// The registered authentication schemes and those in wide use; of any other word nobody knows that it is not
// the secret itself.
constexpr std::array<std::string_view, 19> kSchemes{
    "Basic", "Bearer", "Digest", "Negotiate", "NTLM", "DPoP", "GNAP", "HOBA", "Mutual", "OAuth", "PrivateToken",
    "Concealed", "SCRAM-SHA-1", "SCRAM-SHA-256", "vapid", "AWS4-HMAC-SHA256", "Token", "Kerberos", "Signature"};

// The scheme at the front of `value`; empty if it is not a known one followed by white space, or by the end
// where `alone` allows that.
std::string_view known_scheme(std::string_view value, bool alone) {
  const std::size_t end = std::min(value.find_first_of(" \t\r\n"), value.size());
  if (end == value.size() && !alone) return {};
  const std::string_view word = value.substr(0, end);
  for (std::string_view scheme : kSchemes) {
    if (equal_nocase(word, scheme)) return word;
  }
  return {};
}

fmt::appender write_credentials(fmt::appender out, std::string_view value) {
  const std::string_view scheme = known_scheme(value, false);
  if (!scheme.empty()) {
    out = append_text(out, scheme);
    out = append_text(out, " ");
  }
  return append_text(out, kRedacted);
}

// Takes one part from the front of a list that is separated by `;`, with the `;` before it if there is one. A
// `;` between double quotes separates nothing, and a quote that never closes takes everything.
std::string_view next_part(std::string_view& rest) {
  std::size_t end = rest.empty() || rest.front() != ';' ? 0 : 1;
  bool quoted = false;
  for (; end < rest.size(); ++end) {
    if (rest[end] == '"') quoted = !quoted;
    if (rest[end] == ';' && !quoted) break;
  }
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(end);
  return part;
}

// `name=[redacted]`. Without a name, or where nothing but '=' follows it, the "name" may be the secret (a
// base64 text ends in '='), and so may one that is not a token or is very long.
fmt::appender write_cookie_pair(fmt::appender out, std::string_view part) {
  constexpr std::size_t kNameMax = 64;
  std::size_t begin = 0;
  while (begin < part.size() && (part[begin] == ';' || is_ows(part[begin]))) ++begin;
  std::size_t equals = begin;
  while (equals < part.size() && is_tchar(part[equals])) ++equals;
  std::size_t shown = begin;
  if (equals < part.size() && part[equals] == '=' && equals > begin && equals - begin <= kNameMax &&
      part.find_first_not_of("= \t", equals) != std::string_view::npos) {
    shown = equals + 1;
  }
  out = append_text(out, part.substr(0, shown));
  return begin == part.size() ? out : append_text(out, kRedacted);
}

fmt::appender write_cookie(fmt::appender out, std::string_view value) {
  while (!value.empty()) out = write_cookie_pair(out, next_part(value));
  return out;
}

constexpr std::array<std::string_view, 9> kCookieAttributes{"Path",     "Domain",   "Expires",  "Max-Age",    "Secure",
                                                            "HttpOnly", "SameSite", "Priority", "Partitioned"};

// An attribute that cookies are known to have, with a value in which no second cookie can hide.
bool is_cookie_attribute(std::string_view part) {
  const std::size_t equals = std::min(part.find('='), part.size());
  const std::string_view name = trim_ows(part.substr(0, equals));
  const auto known = std::find_if(kCookieAttributes.begin(), kCookieAttributes.end(),
                                  [name](std::string_view attribute) { return equal_nocase(attribute, name); });
  if (known == kCookieAttributes.end()) return false;
  const std::string_view value = part.substr(std::min(equals + 1, part.size()));
  if (value.find('=') != std::string_view::npos) return false;
  const auto commas = std::count(value.begin(), value.end(), ',');
  return commas == 0 || (*known == "Expires" && commas == 1 && value.size() <= 40);
}

fmt::appender write_set_cookie(fmt::appender out, std::string_view value) {
  out = write_cookie_pair(out, next_part(value));
  while (!value.empty()) {
    const std::string_view part = next_part(value);
    const std::string_view attribute = trim_ows(part.substr(1));
    if (attribute.empty() || is_cookie_attribute(attribute)) {
      out = append_text(out, part);
    } else {
      out = append_text(out, "; ");
      out = append_text(out, kRedacted);
    }
  }
  return out;
}

// The length of `realm="..."` or `realm=token` at the front of `text`, or 0.
std::size_t realm_length(std::string_view text) {
  constexpr std::string_view kRealm = "realm=";
  if (!equal_nocase(text.substr(0, kRealm.size()), kRealm)) return 0;
  std::size_t end = kRealm.size();
  if (end < text.size() && text[end] == '"') {
    for (++end; end < text.size() && text[end] != '"'; ++end) {
      if (text[end] == '\\') ++end;
    }
    if (end >= text.size()) return 0;
    ++end;
  } else {
    while (end < text.size() && is_tchar(text[end])) ++end;
  }
  return end == text.size() || text[end] == ',' || is_ows(text[end]) ? end : 0;
}

// Scheme and realm of the first challenge; whatever else there is becomes one mask.
fmt::appender write_challenge(fmt::appender out, std::string_view value) {
  const std::string_view scheme = known_scheme(value, true);
  if (scheme.empty()) return append_text(out, kRedacted);
  std::size_t end = std::min(value.find_first_not_of(" \t", scheme.size()), value.size());
  const std::size_t realm = realm_length(value.substr(end));
  end += realm;
  out = append_text(out, value.substr(0, end));
  if (end == value.size()) return out;
  if (realm != 0) out = append_text(out, ", ");
  return append_text(out, kRedacted);
}

}  // namespace

fmt::appender write_redacted(fmt::appender out, Secrecy secrecy, std::string_view value) {
  if (secrecy == Secrecy::kPlain || secrets_shown()) return append_text(out, value);
  value = trim_ows(value);
  if (value.empty()) return out;
  switch (secrecy) {
    case Secrecy::kCredentials: return write_credentials(out, value);
    case Secrecy::kCookie: return write_cookie(out, value);
    case Secrecy::kSetCookie: return write_set_cookie(out, value);
    case Secrecy::kChallenge: return write_challenge(out, value);
    case Secrecy::kUrl: return write_url(out, value, Mask::kSecrets);
    case Secrecy::kUrls: return write_urls(out, value);
    case Secrecy::kPlain:
    case Secrecy::kWhole: break;
  }
  return append_text(out, kRedacted);
}

}  // namespace telltale::http
