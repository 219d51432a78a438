// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes HTTP/1.1 heads. Fields are written as given, except those that frame the message or speak about
// the connection: Content-Length and Transfer-Encoding come from the Framing and Connection from
// `connection`, whatever the Fields hold. Call strip_hop_by_hop() first and add Via and others to the Fields.
//
// Two kinds of output: a std::string that grows, or an Out that is a fixed piece of memory. Into an Out that
// is too small nothing useful is written: full() says so and the caller must not send it.
//
// **Thread safety:** immutable.
// **Source:** RFC 9112 sections 3 to 6.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "http/fields.h"
#include "http/framing.h"
#include "http1/hop_by_hop.h"

namespace telltale::http1 {

// A piece of memory that is filled from the front; never writes past its end.
class Out {
 public:
  Out(char* data, std::size_t capacity) : data_(data), capacity_(capacity) {}

  void append(std::string_view text) {
    if (text.size() > capacity_ - size_) {
      full_ = true;
      return;
    }
    if (!text.empty()) std::memcpy(data_ + size_, text.data(), text.size());
    size_ += text.size();
  }
  std::size_t size() const { return size_; }
  bool full() const { return full_; }  // something did not fit and is missing
  std::string_view text() const { return {data_, size_}; }

 private:
  char* data_;
  std::size_t capacity_;
  std::size_t size_ = 0;
  bool full_ = false;
};

enum class ConnectionField : std::uint8_t { kNone, kClose, kKeepAlive };

// REQUIRES: `method` is a token and `target` was accepted by http::parse_target (no CR, LF or space).
void append_request_head(std::string& out, std::string_view method, std::string_view target,
                         const http::Fields& fields, http::Framing framing, ConnectionField connection);
void append_request_head(Out& out, std::string_view method, std::string_view target, const http::Fields& fields,
                         http::Framing framing, ConnectionField connection);

// An empty `reason` is replaced by the registered one. With Framing::kNone no Content-Length is written unless
// `framing.announced`, and never in a 1xx or 204. For a client that speaks HTTP/1.0 the caller must not
// choose kChunked.
void append_response_head(std::string& out, std::uint16_t status, std::string_view reason,
                          const http::Fields& fields, http::Framing framing, ConnectionField connection);
void append_response_head(Out& out, std::uint16_t status, std::string_view reason, const http::Fields& fields,
                          http::Framing framing, ConnectionField connection);

}  // namespace telltale::http1
