// SPDX-License-Identifier: Apache-2.0
//
// Which names stand for secrets. Fields: an exact list, then an allow-list of ordinary names that contain a
// suspicious fragment, then the fragments (default deny for names nobody here has heard of). Query keys:
// fragments, whole words, and any key that ends in "key". Rather one word too many in a log than one too few;
// 200 ordinary fields in tests/unit/http/redact_test.cc keep this from eating what operators need.
#include <algorithm>
#include <array>
#include <cstring>

#include "http/redact.h"
#include "http/redaction.h"
#include "http/secret_name.h"

namespace telltale::http {
namespace {

// All texts here are as PlainName has them: lower case, without '-', '_' and '.'.
constexpr std::array<std::string_view, 9> kSecretFields{
    "xforwardedclientcert", "xauth", "xauthkey", "xaccesskey", "xfunctionskey", "ocpapimsubscriptionkey",
    "xclientcert", "xsslclientcert", "xkey"};

constexpr std::array<std::string_view, 6> kOrdinaryFields{
    "accesscontrolallowcredentials", "signatureinput", "acceptsignature", "xratelimitlimittokens",
    "xratelimitremainingtokens", "xratelimitresettokens"};

constexpr std::array<std::string_view, 15> kFieldFragments{
    "token", "secret", "passw", "passphrase", "credential", "session", "sessid", "signature",
    "apikey", "authorization", "cookie", "jwt", "csrf", "xsrf", "privatekey"};

constexpr std::array<std::string_view, 17> kKeyFragments{
    "token", "secret", "passw", "passphrase", "passcode", "credential", "session", "sessid", "signature",
    "apikey", "accesskey", "privatekey", "authorization", "oauth", "jwt", "csrf", "xsrf"};

constexpr std::array<std::string_view, 20> kKeyWords{
    "key", "sig", "auth", "code", "sid", "pass", "pwd", "pw", "psw", "pin", "otp", "ticket", "hmac", "assertion",
    "samlresponse", "samlrequest", "cred", "creds", "bearer", "sso"};

constexpr std::array<std::string_view, 6> kUrlFields{":path", ":authority", "destination", "sourcemap", "xsourcemap",
                                                     "xaccelredirect"};

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& list, std::string_view text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

// Fragments by their first letter, so that at each place of a text only those that could begin there are
// compared: those of letter 'a' + i are sorted[first[i]] to sorted[first[i + 1]].
template <std::size_t N>
struct ByLetter {
  std::array<std::string_view, N> sorted{};
  std::array<std::uint8_t, 27> first{};
  std::uint32_t letters = 0;  // bit i: some fragment begins with 'a' + i

  constexpr explicit ByLetter(const std::array<std::string_view, N>& fragments) {
    std::uint8_t next = 0;
    for (std::size_t letter = 0; letter < 26; ++letter) {
      first[letter] = next;
      for (std::string_view fragment : fragments) {
        if (fragment.front() != static_cast<char>('a' + letter)) continue;
        sorted[next++] = fragment;
        letters |= 1u << letter;
      }
    }
    first[26] = next;
  }

  bool in(std::string_view text) const {
    for (std::size_t i = 0; i + 1 < text.size(); ++i) {
      const auto letter = static_cast<unsigned char>(text[i] - 'a');
      if (letter >= 26 || (letters >> letter & 1) == 0) continue;
      for (std::size_t k = first[letter]; k < first[letter + 1u]; ++k) {
        const std::string_view fragment = sorted[k];
        if (fragment[1] == text[i + 1] && fragment.size() <= text.size() - i &&
            std::memcmp(text.data() + i, fragment.data(), fragment.size()) == 0) {
          return true;
        }
      }
    }
    return false;
  }
};

constexpr ByLetter kFieldSuspects{kFieldFragments};
constexpr ByLetter kKeySuspects{kKeyFragments};
static_assert(kFieldSuspects.first[26] == kFieldFragments.size() && kKeySuspects.first[26] == kKeyFragments.size(),
              "every fragment begins with a lower-case letter");

// True if one of the parts between '-' and '_' says that the value is a URL.
bool names_url(std::string_view name) {
  for (std::size_t begin = 0; begin < name.size();) {
    std::size_t end = begin;
    while (end < name.size() && name[end] != '-' && name[end] != '_') ++end;
    const std::string_view part = name.substr(begin, end - begin);
    if (part.size() == 3 && (equal_nocase(part, "url") || equal_nocase(part, "uri"))) return true;
    if (part.size() == 8 && equal_nocase(part, "referrer")) return true;
    begin = end + 1;
  }
  return false;
}

Secrecy secrecy_of_name(std::string_view name) {
  PlainName plain;
  for (char c : name) plain.add(c);
  if (plain.cut()) return Secrecy::kWhole;
  const std::string_view text = plain.text();
  if (is_one_of(kSecretFields, text)) return Secrecy::kWhole;
  if (kFieldSuspects.in(text) && !is_one_of(kOrdinaryFields, text) && !redaction_detail::allowed_field(text)) return Secrecy::kWhole;
  if (is_one_of(kUrlFields, text) || names_url(name)) return Secrecy::kUrl;
  return Secrecy::kPlain;
}

// What the operator has added is asked for known names too.
[[gnu::noinline, gnu::cold]] bool is_added(std::string_view name) {
  PlainName plain;
  for (char c : name) plain.add(c);
  return redaction_detail::added_field(plain.text()) ||
         (redaction_detail::added_fragment(plain.text()) && !redaction_detail::allowed_field(plain.text()));
}

}  // namespace

Secrecy secrecy_of(FieldId id, std::string_view name, std::string_view value) {
  if (redaction_detail::names_added() && is_added(name)) return Secrecy::kWhole;
  switch (id) {
    case FieldId::kAuthorization:
    case FieldId::kProxyAuthorization:
      return Secrecy::kCredentials;
    case FieldId::kCookie:
      return Secrecy::kCookie;
    case FieldId::kSetCookie:
      return Secrecy::kSetCookie;
    case FieldId::kWwwAuthenticate:
    case FieldId::kProxyAuthenticate:
      return Secrecy::kChallenge;
    case FieldId::kAuthenticationInfo:
    case FieldId::kProxyAuthenticationInfo:
      return Secrecy::kWhole;
    case FieldId::kHost:
    case FieldId::kOrigin:
    case FieldId::kReferer:
    case FieldId::kLocation:
    case FieldId::kContentLocation:
      return Secrecy::kUrl;
    case FieldId::kLink:
    case FieldId::kRefresh:
      return Secrecy::kUrls;
    case FieldId::kOther: {
      const Secrecy secrecy = secrecy_of_name(name);
      if (secrecy == Secrecy::kPlain && value.find("://") != std::string_view::npos) return Secrecy::kUrls;
      return secrecy;
    }
    default:
      return Secrecy::kPlain;
  }
}

bool is_secret_plain_key(std::string_view plain) {
  if (plain.size() >= 3 && plain.substr(plain.size() - 3) == "key") return true;
  if (kKeySuspects.in(plain) || redaction_detail::added_key(plain)) return true;
  // `user[pass]` and `auth[0]` consist of words, none of them longer than the longest of the list.
  while (!plain.empty()) {
    const std::size_t end = plain.find_first_of("[]");
    const std::string_view word = plain.substr(0, end);
    if (is_one_of(kKeyWords, word) || redaction_detail::added_key(word)) return true;
    plain.remove_prefix(end == std::string_view::npos ? plain.size() : end + 1);
  }
  return false;
}

}  // namespace telltale::http
