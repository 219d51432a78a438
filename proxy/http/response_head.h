// SPDX-License-Identifier: Apache-2.0
#pragma once

// A response head as the proxy works with it; see request_head.h.
//
// **Thread safety:** thread-compatible.
// **Source:** RFC 9110 section 15, RFC 9112 section 4.

#include <cstdint>
#include <string_view>

#include "http/fields.h"
#include "http/framing.h"
#include "http/version.h"

namespace telltale::http {

struct ResponseHead {
  std::uint16_t status = 0;  // 100 to 999
  Version version = Version::kHttp11;
  bool keep_alive = true;    // the connection may be used again once the content is read
  std::string_view reason;
  Fields fields;
  Framing framing;

  bool interim() const { return status < 200; }

  void clear() {
    status = 0;
    version = Version::kHttp11;
    keep_alive = true;
    reason = {};
    fields.clear();
    framing = {};
  }
};

}  // namespace telltale::http
