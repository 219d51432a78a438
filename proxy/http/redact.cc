// SPDX-License-Identifier: Apache-2.0
//
// Field values by kind. The rule for each: write a byte only where it is known not to be part of a secret.
#include "http/redact.h"

#include <algorithm>
#include <array>

#include "http/append_text.h"
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

// Takes one `;`-separated part from the front; a `;` between double quotes does not count, and a quote that
// never closes takes everything.
std::string_view next_part(std::string_view& rest) {
  std::size_t end = 0;
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
  const std::size_t begin = std::min(part.find_first_not_of(" \t"), part.size());
  out = append_text(out, part.substr(0, begin));
  part = trim_ows(part.substr(begin));
  if (part.empty()) return out;
  const std::size_t equals = part.find('=');
  if (equals != std::string_view::npos && equals <= 64 && is_token(part.substr(0, equals)) &&
      part.find_first_not_of('=', equals) != std::string_view::npos) {
    out = append_text(out, part.substr(0, equals + 1));
  }
  return append_text(out, kRedacted);
}

fmt::appender write_cookie(fmt::appender out, std::string_view value) {
  while (true) {
    out = write_cookie_pair(out, next_part(value));
    if (value.empty()) return out;
    out = append_text(out, ";");
    value.remove_prefix(1);
  }
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
    out = append_text(out, ";");
    value.remove_prefix(1);
    const std::string_view part = next_part(value);
    if (trim_ows(part).empty() || is_cookie_attribute(part)) {
      out = append_text(out, part);
    } else {
      out = append_text(out, " ");
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
  if (secrecy == Secrecy::kPlain) return append_text(out, value);
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
