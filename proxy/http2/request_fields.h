// SPDX-License-Identifier: Apache-2.0
#pragma once
// One request's field block, taken in field by field as HPACK decodes it, then checked and made into a RequestHead.
//
// nghttp2 has checked each field by RFC 9113 already (names in lower case, no control bytes, pseudo-header fields
// complete, once and first, no connection-specific field): what breaks those rules never gets here. Here stand the
// rules that HTTP/1.1 requests meet too: authority, target, Expect, limits.
//
// Nothing is copied: the decoder's buffers are counted, and kept until clear().
//
// **Thread safety:** loop-bound. **Source:** RFC 9113 sections 8.2.3 and 8.3; RFC 9110 section 7.2.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nghttp2/nghttp2.h>

#include "http/request_head.h"

namespace telltale::http2 {

struct FieldLimits {
  std::size_t bytes_max;   // names and values, and 32 bytes for each field
  std::size_t fields_max;  // without pseudo-header fields
};

// Why a request is answered here; status 0: it is not.
struct Refused {
  std::uint16_t status = 0;
  std::string_view reason = {};  // a fixed sentence
  bool malformed = false;        // a stream error of type PROTOCOL_ERROR instead of an answer
};

class RequestFields {
 public:
  RequestFields() = default;
  RequestFields(const RequestFields&) = delete;
  RequestFields& operator=(const RequestFields&) = delete;
  ~RequestFields() { clear(); }

  // Gives the buffers back. REQUIRES: the session they came from lives.
  void clear() noexcept;

  // What passes a limit is counted and not kept.
  void add(nghttp2_rcbuf* name, nghttp2_rcbuf* value, const FieldLimits& limits, http::RequestHead& out);

  // After the last field. `content`: the block does not end the stream. `out` then points into this object.
  Refused finish(bool content, http::RequestHead& out);

 private:
  void keep(nghttp2_rcbuf* buffer);
  void join_cookies(http::RequestHead& out);

  std::vector<nghttp2_rcbuf*> kept_;
  std::string_view path_;
  std::string_view authority_;
  std::string_view scheme_;
  std::string cookies_;
  std::size_t bytes_ = 0;
  std::uint8_t cookie_fields_ = 0;  // 0, 1, or 2 for more
  bool has_authority_ = false;
  bool too_large_ = false;
};

}  // namespace telltale::http2
