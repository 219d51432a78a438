// SPDX-License-Identifier: Apache-2.0
#pragma once
// The cache key: the URI that goes to the origin, byte for byte, and its hash.
//
// The key is the target as forwarded, so that nothing is normalised in the key that is not normalised
// on the wire: "/\", "/%5C" and "/" are three keys. Host names are lower case by then.
//
// **Thread safety:** immutable. **Source:** RFC 9111, section 2.

#include <cstdint>
#include <string_view>

#include <fmt/format.h>

namespace telltale::cache {

// A key that refers to text owned elsewhere; what look-ups use.
struct CacheKey {
  std::string_view text;
  std::uint64_t hash;  // of text, seeded at random per process: clients choose the text
};

// Cost: one pass over the text, no allocation.
CacheKey cache_key(std::string_view text) noexcept;

// Where a key's text is put together; keys of ordinary length need no allocation.
using KeyText = fmt::basic_memory_buffer<char, 512>;

// Appends "http://host:port"; the target follows.
void append_key_origin(KeyText& out, std::string_view origin_host, std::uint16_t origin_port);

}  // namespace telltale::cache
