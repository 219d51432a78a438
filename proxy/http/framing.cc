// SPDX-License-Identifier: Apache-2.0
#include "http/framing.h"

#include <limits>

#include "http/fields.h"
#include "http/token.h"

namespace telltale::http {
namespace {

struct Found {
  const Field* length = nullptr;
  const Field* coding = nullptr;
  unsigned lengths = 0;
  unsigned codings = 0;
};

Found look(const Fields& fields) {
  Found found;
  for (const Field& field : fields) {
    if (field.id == FieldId::kContentLength) found.length = &field, ++found.lengths;
    if (field.id == FieldId::kTransferEncoding) found.coding = &field, ++found.codings;
  }
  return found;
}

FramingResult error(std::uint16_t status, std::string_view reason) {
  FramingResult result;
  result.keep_alive = false;
  result.status = status;
  result.reason = reason;
  return result;
}

FramingResult decided(Framing::Kind kind, std::uint64_t length = 0) {
  FramingResult result;
  result.framing.kind = kind;
  result.framing.length = length;
  return result;
}

// Transfer-Encoding is present. `bad` and `unknown` are the status codes for a value that is broken and for
// one that asks for a coding we do not have.
FramingResult chunked_or_error(const Found& found, Version version, std::uint16_t bad, std::uint16_t unknown) {
  if (found.lengths != 0) return error(bad, "both Transfer-Encoding and Content-Length are present");
  if (version == Version::kHttp10) return error(bad, "Transfer-Encoding is present in HTTP/1.0");
  if (found.codings != 1) return error(bad, "Transfer-Encoding is present more than once");
  std::string_view rest = found.coding->value;
  const std::string_view first = next_item(rest);
  if (first.empty()) return error(bad, "Transfer-Encoding is empty");
  if (!equal_nocase(first, "chunked")) return error(unknown, "Transfer-Encoding asks for a coding other than chunked");
  if (trim_ows(found.coding->value).size() != first.size()) {
    return next_item(rest).empty() ? error(bad, "Transfer-Encoding has an empty member")
                                   : error(bad, "Transfer-Encoding applies chunked with another coding");
  }
  return decided(Framing::kChunked);
}

}  // namespace

bool parse_content_length(std::string_view text, std::uint64_t& length) {
  if (text.empty()) return false;
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t value = 0;
  for (char c : text) {
    if (!is_digit(c)) return false;
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (value > (kMax - digit) / 10) return false;
    value = value * 10 + digit;
  }
  length = value;
  return true;
}

FramingResult request_framing(const Fields& fields, Version version) {
  const Found found = look(fields);
  if (found.codings != 0) return chunked_or_error(found, version, 400, 501);
  if (found.lengths == 0) return decided(Framing::kNone);
  if (found.lengths != 1) return error(400, "Content-Length is present more than once");
  std::uint64_t length = 0;
  if (!parse_content_length(trim_ows(found.length->value), length)) return error(400, "Content-Length is not a number");
  return decided(Framing::kLength, length);
}

FramingResult response_framing(const Fields& fields, Version version, std::uint16_t status, Method request_method) {
  const Found found = look(fields);
  std::uint64_t length = 0;
  if (found.lengths > 1) return error(502, "Content-Length is present more than once");
  if (found.lengths == 1 && !parse_content_length(trim_ows(found.length->value), length)) {
    return error(502, "Content-Length is not a number");
  }
  FramingResult coding = decided(Framing::kNone);
  if (found.codings != 0) {
    coding = chunked_or_error(found, version, 502, 502);
    if (!coding.ok()) return coding;
  }

  FramingResult none = decided(Framing::kNone);
  if (status < 200) {
    if (found.codings != 0 || length != 0) return error(502, "an interim response announces content");
    return none;
  }
  if (status == 204) {
    // The head ends the message whatever it announces; should content follow all the same, it must not be
    // read as the next response.
    none.keep_alive = found.codings == 0 && length == 0;
    return none;
  }
  if (status == 304 || request_method == Method::kHead) {
    none.framing.announced = found.lengths == 1;
    none.framing.length = length;
    return none;
  }
  if (found.codings != 0) return coding;
  if (found.lengths == 1) return decided(Framing::kLength, length);
  FramingResult until_close = decided(Framing::kUntilClose);
  until_close.keep_alive = false;
  return until_close;
}

}  // namespace telltale::http
