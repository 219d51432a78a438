// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads a request head in one pass over its bytes: request line, fields, and, on the way, what decides about
// the connection and the content. It is the strict grammar and nothing else: what the head means is judged by
// RequestHeadParser, its only user, which also finds the reason where the pass stopped.
//
// | state   | meaning                                     | out and facts                      |
// |---------|---------------------------------------------|------------------------------------|
// | kDone   | a whole head that obeys the grammar         | filled; views point into the text  |
// | kShort  | the text ends within the head               | of no use                          |
// | kWrong  | `fault`, in the line that begins at `line`  | fields: those before that line     |
//
// **Thread safety:** immutable.
// **Source:** RFC 9112 sections 3 and 5; compared with Boost.Beast's parser in
// tests/unit/http1/request_reference_test.cc.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "http/request_head.h"

namespace telltale::http1 {

enum class RequestFault : std::uint8_t {
  kNone,
  kMethod,     // no token and space at the start
  kTarget,     // empty, or a byte that ends it is not a space
  kVersion,    // not HTTP/1.0 or HTTP/1.1 and a line end
  kName,       // of a field: empty, a byte that is none of a name's, or no colon
  kControl,    // a control byte in a value
  kNotTokens,  // Connection or Proxy-Connection is not a list of tokens
  kLength,     // Content-Length is not a number
  kFraming,    // a second field that frames the content
  kFields,     // more than fields_max
};

// What a pass over the fields has seen of those that matter to the parser.
struct RequestFacts {
  std::size_t question = std::string_view::npos;  // of the first '?' in the target
  bool plain_target = true;                       // no '#' and no byte above 7E
  bool close = false;                             // options of Connection
  bool keep_alive = false;
  bool expects = false;        // Expect: 100-continue
  std::size_t options = 0;     // of Connection, all of them
  const char* host = nullptr;  // the Host field's value
  std::size_t host_size = 0;
  bool has_length = false;
  std::uint64_t length = 0;      // Content-Length
  const char* coding = nullptr;  // the Transfer-Encoding field's value
  std::size_t coding_size = 0;
  // The first field whose value or repetition the parser refuses, although it obeys the grammar.
  enum class Refused : std::uint8_t { kNothing, kSecondHost, kExpectation } refused = Refused::kNothing;
};

struct RequestReading {
  enum State : std::uint8_t { kDone, kShort, kWrong };
  State state;
  RequestFault fault = RequestFault::kNone;
  std::size_t line = 0;  // kWrong: where the line begins
  std::size_t end = 0;   // kDone: after the empty line
};

// `text` begins with the request line. Cost: some eight instructions a byte of names and target, one to two a byte
// of values; allocates beyond Fields::kInline fields only.
RequestReading read_request_head(std::string_view text, std::size_t fields_max, http::RequestHead& out,
                                 RequestFacts& facts);

}  // namespace telltale::http1
