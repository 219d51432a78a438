// SPDX-License-Identifier: Apache-2.0
#pragma once

// A request as the proxy works with it: parsed, checked, its framing decided. Filled by a parser
// (http1/head_parser.h), whose buffer it points into; keep one per connection and reuse it.
//
// **Thread safety:** thread-compatible.
// **Source:** RFC 9110 section 6, RFC 9112 section 3.

#include <string_view>

#include "http/authority.h"
#include "http/fields.h"
#include "http/framing.h"
#include "http/method.h"
#include "http/version.h"

namespace telltale::http {

struct RequestHead {
  Method method = Method::kOther;
  Version version = Version::kHttp11;
  bool keep_alive = true;        // what the client asks for; the answer may still close
  bool expect_continue = false;  // the client holds its content back until a 100 (Continue)
  std::string_view method_text;
  std::string_view target;       // as received; of an absolute-form what follows its authority
  std::string_view path;         // origin-form; empty for "*"
  std::string_view query;        // without '?'
  Authority authority;           // empty only in HTTP/1.0 without Host
  Fields fields;
  Framing framing;

  void clear() {
    method = Method::kOther;
    version = Version::kHttp11;
    keep_alive = true;
    expect_continue = false;
    method_text = target = path = query = {};
    authority.clear();
    fields.clear();
    framing = {};
  }
};

}  // namespace telltale::http
