// SPDX-License-Identifier: Apache-2.0
#pragma once

// The protocol versions Telltale speaks.
//
// **Thread safety:** immutable.
// **Source:** RFC 9110 section 2.5.

#include <cstdint>
#include <string_view>

namespace telltale::http {

enum class Version : std::uint8_t { kHttp10, kHttp11, kHttp2 };

// As it stands in a request line or status line: "HTTP/1.1".
constexpr std::string_view version_text(Version version) {
  switch (version) {
    case Version::kHttp10: return "HTTP/1.0";
    case Version::kHttp11: return "HTTP/1.1";
    case Version::kHttp2: break;
  }
  return "HTTP/2";
}

}  // namespace telltale::http
