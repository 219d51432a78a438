// SPDX-License-Identifier: Apache-2.0
#pragma once
// The cache key: the URI that goes to the origin, byte for byte, and its hash.
//
// The key is the target as forwarded, so that nothing is normalised in the key that is not normalised
// on the wire: "/\", "/%5C" and "/" are three keys. Host names are lower case by then.
//
// **Thread safety:** immutable. **Source:** RFC 9111, section 2.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

namespace telltale::cache {

// A key that refers to text owned elsewhere; what look-ups use.
struct CacheKey {
  std::string_view text;
  std::uint64_t hash;  // of text, seeded at random per process: clients choose the text
};

// Cost: one pass over the text, no allocation.
CacheKey cache_key(std::string_view text) noexcept;

// Where a key's text is put together, piece by piece. Keys of ordinary length need no allocation.
class KeyText {
 public:
  static constexpr std::size_t kInline = 512;  // bytes

  KeyText() = default;
  KeyText(const KeyText&) = delete;
  KeyText& operator=(const KeyText&) = delete;

  void append(std::string_view text) {
    if (text.size() > capacity_ - size_) [[unlikely]] grow(text.size());
    if (!text.empty()) std::memcpy(data_ + size_, text.data(), text.size());
    size_ += text.size();
  }
  std::size_t size() const noexcept { return size_; }
  // Lives until the next append().
  std::string_view view() const noexcept { return {data_, size_}; }

 private:
  void grow(std::size_t by);

  char* data_ = inline_;
  std::size_t size_ = 0;
  std::size_t capacity_ = kInline;
  std::unique_ptr<char[]> heap_;
  char inline_[kInline];  // the first size_ bytes are set
};

}  // namespace telltale::cache
