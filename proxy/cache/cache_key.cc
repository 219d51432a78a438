// SPDX-License-Identifier: Apache-2.0
// XXH3 with a random seed and secret: as fast as the plain hash, and a client that cannot read our
// memory cannot choose keys that fall into one bucket.
#include "cache/cache_key.h"

#include <sys/random.h>

#include <charconv>
#include <cstdlib>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace telltale::cache {
namespace {

struct Secret {
  unsigned char bytes[XXH3_SECRET_SIZE_MIN];
  Secret() {
    if (getrandom(bytes, sizeof bytes, 0) != static_cast<ssize_t>(sizeof bytes)) std::abort();
  }
};

}  // namespace

CacheKey cache_key(std::string_view text) noexcept {
  static const Secret secret;
  return {text, XXH3_64bits_withSecret(text.data(), text.size(), secret.bytes, sizeof secret.bytes)};
}

void append_key_origin(KeyText& out, std::string_view origin_host, std::uint16_t origin_port) {
  char port[8];
  char* end = std::to_chars(port, port + sizeof port, origin_port).ptr;
  out.append(std::string_view("http://"));
  out.append(origin_host);
  out.push_back(':');
  out.append(port, end);
}

}  // namespace telltale::cache
