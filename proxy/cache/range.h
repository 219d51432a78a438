// SPDX-License-Identifier: Apache-2.0
#pragma once
// Range requests on a whole that is stored: one range of bytes is served as a part; several, or a field that cannot
// be read, are answered with the whole, as a server may.
//
// **Thread safety:** pure functions. **Source:** RFC 9110, sections 13.1.5, 14.1.2 and 14.2.

#include <cstdint>

#include "cache/stored_response.h"
#include "http/fields.h"

namespace telltale::cache {

struct Range {
  enum Kind : std::uint8_t {
    kWhole,          // 200: no range, or one that is ignored
    kPart,           // 206
    kUnsatisfiable,  // 416
  };
  Kind kind = kWhole;
  std::uint64_t begin = 0;  // of kPart
  std::uint64_t end = 0;    // one past its last byte
};

// What a GET for a stored 200 gets. An If-Range that is not the stored strong tag or Last-Modified voids the Range.
Range wanted_range(const http::Fields& request, const StoredResponse& stored) noexcept;

}  // namespace telltale::cache
