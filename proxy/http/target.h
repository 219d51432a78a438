// SPDX-License-Identifier: Apache-2.0
#pragma once

// The request target: which form it has, whether a reverse proxy accepts it, and where its path and
// query are. It normalises nothing: `//`, `/./`, `/%2e` and `/\` stay what they are, so the cache key,
// the bytes forwarded and the bytes received are the same.
//
// Accepted: origin-form ("/a?b") and, with OPTIONS only, asterisk-form. Refused with 400: an authority-form,
// any control byte, space, `#` (a fragment is never sent) and any byte above 7F (raw UTF-8 has to be
// percent-encoded; back ends disagree about it). CONNECT is refused with 405. absolute-form is HTTP/1's:
// its parser takes it apart first (split_absolute_target) and lets its authority stand in for Host.
//
// **Thread safety:** immutable.
// **Source:** RFC 9112 section 3.2.

#include <cstdint>
#include <optional>
#include <string_view>

#include "http/method.h"

namespace telltale::http {

enum class TargetForm : std::uint8_t { kOrigin, kAsterisk, kAbsolute, kAuthority, kInvalid };

struct Target {
  TargetForm form = TargetForm::kInvalid;
  std::string_view path;      // origin-form: from the first '/' to before '?'
  std::string_view query;     // after the '?'; empty if there is none
  std::uint16_t status = 0;   // 0: accepted; else the status code to refuse the request with
  std::string_view reason;    // then why: a fixed sentence, without any byte of the target
  bool ok() const { return status == 0; }
};

// `path` and `query` are views into `text`. Cost: one pass over the target.
Target parse_target(Method method, std::string_view text);

// An absolute-form in parts: "http://a:80/b?c" is "http", "a:80", "/b?c". None of them is checked.
struct AbsoluteTarget {
  std::string_view scheme;
  std::string_view authority;  // may be empty
  std::string_view rest;       // begins with '/', '?' or '#', or is empty
};
// Nothing if `text` does not begin with a scheme and "://".
std::optional<AbsoluteTarget> split_absolute_target(std::string_view text);

}  // namespace telltale::http
