// SPDX-License-Identifier: Apache-2.0
// XXH3 with a random seed and secret: as fast as the plain hash, and a client that cannot read our
// memory cannot choose keys that fall into one bucket.
#include "cache/cache_key.h"

#include <sys/random.h>

#include <cstdlib>
#include <utility>

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

void KeyText::grow(std::size_t by) {
  const std::size_t capacity = 2 * (size_ + by);
  auto larger = std::make_unique<char[]>(capacity);
  std::memcpy(larger.get(), data_, size_);
  heap_ = std::move(larger);
  data_ = heap_.get();
  capacity_ = capacity;
}

}  // namespace telltale::cache
