// SPDX-License-Identifier: Apache-2.0
#pragma once

// What of an HTTP value is secret, and the writing of values with the secrets masked as `[redacted]`.
// This is the one place where that is decided; print.h wraps it for records. It changes output only:
// it never sees a byte that is forwarded. It does not escape control bytes: the log's backend does.
//
// | kind         | which fields                                        | what remains                      |
// |--------------|-----------------------------------------------------|-----------------------------------|
// | kPlain       | all others                                          | everything                        |
// | kCredentials | Authorization, Proxy-Authorization                  | a known scheme: `Bearer [redacted]`|
// | kCookie      | Cookie                                              | names: `sid=[redacted]; a=[redacted]`|
// | kSetCookie   | Set-Cookie                                          | name and well-formed attributes   |
// | kChallenge   | WWW-Authenticate, Proxy-Authenticate                | scheme and realm                  |
// | kUrl         | Host, Origin, Referer, Location, Content-Location,  | URL without user-info and secret  |
// |              | :path, names with a part `url` or `uri`             | values                            |
// | kUrls        | Link, Refresh; unknown names whose value has "://"  | the same for each URL in the text |
// | kWhole       | the list and the name fragments in redact_name.cc   | nothing                           |
//
// An empty value is written empty, so absent, empty and masked are three different texts.
//
// **Thread safety:** immutable.
// **Source:** spec/redaction.md R1 to R5; test: tests/unit/http/redact_test.cc.

#include <cstdint>
#include <fmt/core.h>
#include <string_view>

#include "http/field_name.h"

namespace telltale::http {

inline constexpr std::string_view kRedacted = "[redacted]";

enum class Secrecy : std::uint8_t { kPlain, kCredentials, kCookie, kSetCookie, kChallenge, kUrl, kUrls, kWhole };

// Which values of a URL's query and fragment are masked.
enum class Mask : std::uint8_t { kSecrets, kEveryValue };

// By number where the name has one, else by name: exact names, then the allow-list, then fragments. `value`
// is looked at only for an unknown name, whether it contains URLs.
Secrecy secrecy_of(FieldId id, std::string_view name, std::string_view value);

// True if the value of this query key is a secret: `access_token`, `access%5Ftoken`, `sig`, `apiKey`,
// `user[password]`. Compared after percent-decoding, without case and without `-`, `_` and `.`. A key
// too long to be one (over 128 bytes decoded) counts as secret.
bool is_secret_key(std::string_view key);

// Writes `value` as its kind allows. Cost: no allocation by itself; one pass.
fmt::appender write_redacted(fmt::appender out, Secrecy secrecy, std::string_view value);

// Writes a URL, request target or authority. User-info goes as a whole. Values of secret keys go, in
// query, fragment and path parameters (`;jsessionid=`), also where they are hidden in a percent-encoded
// URL inside another value. Whatever cannot be read safely is masked up to the next sure boundary.
fmt::appender write_url(fmt::appender out, std::string_view url, Mask mask);

// The same for text that contains URLs, as Link does.
fmt::appender write_urls(fmt::appender out, std::string_view text);

}  // namespace telltale::http
