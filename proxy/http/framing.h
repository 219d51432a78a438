// SPDX-License-Identifier: Apache-2.0
#pragma once

// How much content follows a head, decided once, strictly, from the fields. Whatever two parsers could
// read in two ways is an error here, never a guess: the proxy writes framing fields of its own and
// never copies them, so a message that passes here means one thing to every later hop.
//
// | Content-Length | Transfer-Encoding       | request        | response                          |
// |----------------|-------------------------|----------------|-----------------------------------|
// | none           | none                    | kNone          | kUntilClose                       |
// | one, digits    | none                    | kLength        | kLength                           |
// | several, or not digits, or over 64 bits | any | 400      | error                             |
// | none           | exactly one "chunked"   | kChunked       | kChunked                          |
// | any            | any                     | 400            | error                             |
// | none           | another coding          | 501            | error                             |
// | none           | present in HTTP/1.0     | 400            | error                             |
//
// Responses to HEAD, 204 and 304 are kNone; so is an interim (1xx) response, where announcing content
// is an error.
//
// **Thread safety:** immutable.
// **Source:** RFC 9112 sections 6.1 to 6.3; RFC 9110 section 8.6.

#include <cstdint>
#include <string_view>

#include "http/method.h"
#include "http/version.h"

namespace telltale::http {

class Fields;

struct Framing {
  enum Kind : std::uint8_t { kNone, kLength, kChunked, kUntilClose };
  Kind kind = kNone;
  std::uint64_t length = 0;  // bytes; with kLength, or with `announced`
  // kNone in a response to HEAD or a 304: a Content-Length said how long the content of a GET is.
  bool announced = false;

  friend bool operator==(const Framing&, const Framing&) = default;
};

struct FramingResult {
  Framing framing;
  bool keep_alive = true;    // false: stray content may follow (a 204 that announces some)
  std::uint16_t status = 0;  // 0: decided; else an error, and what to answer a client (400, 501)
  std::string_view reason;   // then why: a fixed sentence that names the field
  bool ok() const { return status == 0; }
};

FramingResult request_framing(const Fields& fields, Version version);

// An error has status 502.
FramingResult response_framing(const Fields& fields, Version version, std::uint16_t status, Method request_method);

// A Content-Length: digits only, 64 bits. False if `text` is anything else.
[[nodiscard]] bool parse_content_length(std::string_view text, std::uint64_t& length);

}  // namespace telltale::http
