// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads one HTTP/1 head into a RequestHead or ResponseHead, by rules so strict that no two hops can read a
// message differently: CRLF only, no folded lines, tchar names, no control bytes in values, HTTP/1.0 and 1.1
// only, exactly one Host in 1.1, framing as http/framing.h has it, at most kConnectionOptionsMax options in
// Connection. Requests are read by request_head_reader.h, responses by Boost.Beast.
//
// | parse() says | head                                      | then                                      |
// |--------------|-------------------------------------------|-------------------------------------------|
// | kNeedMore    | not there yet                             | append bytes to the same buffer, parse()  |
// | kDone        | filled; views point into the buffer       | drop consumed() bytes when it is done with|
// | kBad         | of no use                                 | answer status(), close                    |
// | kTooLarge    | of no use                                 | answer status() (414 or 431), close       |
//
// After kDone, kBad or kTooLarge call reset() before the next head. While it says kNeedMore the buffer may
// move in memory: only offsets are kept. Nothing is allocated for a head of up to Fields::kInline fields.
//
// **Thread safety:** thread-compatible.
// **Source:** RFC 9112 sections 2 to 6, RFC 9110 sections 5.5 and 7.2.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "http/request_head.h"
#include "http/response_head.h"
#include "http1/head_scanner.h"
#include "http1/request_head_reader.h"

namespace telltale::http1 {

enum class Parse : std::uint8_t { kNeedMore, kDone, kBad, kTooLarge };

inline constexpr std::size_t kConnectionOptionsMax = 32;

// What both parsers say after parse().
class HeadParser {
 public:
  // Bytes of the head, empty lines before it included. After kDone only.
  std::size_t consumed() const { return scanner_.end(); }

  // After kBad or kTooLarge: the status code that answers a request (400, 405, 414, 417, 431, 501, 505);
  // for a response 502.
  int status() const { return status_; }

  // Then why, as one sentence that may name a known field and never shows a byte of the message. Lives
  // until the next parse() or reset().
  std::string_view reason() const { return {reason_, reason_size_}; }

  // After kNeedMore: true once a byte of a start line has arrived, so that the connection is not idle. Empty
  // lines before a request, also half a one, do not count.
  bool started(std::string_view buffer) const {
    return buffer.size() > scanner_.start() && buffer[scanner_.start()] != '\r';
  }

  // Between heads.
  void set_limits(HeadLimits limits) { scanner_.set_limits(limits); }

 protected:
  explicit HeadParser(HeadLimits limits) : scanner_(limits) {}

  void reset_base() { scanner_.reset(), status_ = 0, reason_size_ = 0; }
  Parse fail(Parse result, int status, std::string_view reason);
  Parse bad(int status, std::string_view reason) { return fail(Parse::kBad, status, reason); }
  Parse bad_field(int status, http::FieldId field, std::string_view what);
  // What the scanner did not like, as a result.
  Parse scan_failed(HeadScanner::Found found, std::string_view buffer, bool request);

  HeadScanner scanner_;

 private:
  int status_ = 0;
  std::size_t reason_size_ = 0;
  char reason_[112];
};

class RequestHeadParser : public HeadParser {
 public:
  explicit RequestHeadParser(HeadLimits limits = {}) : HeadParser(limits) {}

  void reset() { reset_base(), bad_field_number_ = 0; }
  [[nodiscard]] Parse parse(std::string_view buffer, http::RequestHead& out);

  // After kBad: which field of the head is malformed, from 1, also where its name may not be shown; 0: none is.
  std::size_t bad_field_number() const { return bad_field_number_; }

 private:
  Parse finish(const RequestFacts& facts, http::RequestHead& out);
  Parse explain(std::string_view head, const RequestReading& reading, const http::RequestHead& out);

  std::size_t bad_field_number_ = 0;
};

class ResponseHeadParser : public HeadParser {
 public:
  explicit ResponseHeadParser(HeadLimits limits = {}) : HeadParser(limits) {}

  // `request_method` decides whether content follows. A 1xx response is a head like any other: reset and
  // parse on.
  void reset(http::Method request_method) { reset_base(), request_method_ = request_method; }
  [[nodiscard]] Parse parse(std::string_view buffer, http::ResponseHead& out);

 private:
  Parse check(http::ResponseHead& out);

  http::Method request_method_ = http::Method::kGet;
};

}  // namespace telltale::http1
