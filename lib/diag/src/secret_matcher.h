// SPDX-License-Identifier: Apache-2.0
#pragma once
// SecretMatcher: finds a set of values, in all their forms, in a text that may come in pieces.
//
// All forms that a value can take are made beforehand as patterns. At each place of the text the next five bytes
// (kWindow, the least that a value has) are looked up in a bitmap of hashes; only what passes is compared. So the
// search costs about the same for one value and for a thousand. Percent-encoding has too many forms to list (any
// byte may be encoded, in two cases, up to three times over): the text is decoded on the way instead, at places that
// have a '%' near.
//
// In base64 the first and the last character of a value may hold bits of its neighbours: patterns leave them out,
// and what is found is widened by them.
//
// Aho and Corasick's automaton was considered: its tables for a thousand values do not fit into the caches, and
// the decoding text does not suit it.
//
// **Thread safety:** immutable.
// **Source:** Karp and Rabin, "Efficient randomized pattern-matching algorithms", 1987; spec/redaction.md R12, R13;
// tests: secret_matcher_test.cc, against a slow search that makes every form.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace telltale::diag {

// Text in up to kMost pieces that is read as one.
class TextPieces {
 public:
  static constexpr std::size_t kMost = 32;

  void add(std::string_view piece) noexcept {
    pieces_[count_++] = piece;
    size_ += piece.size();
  }
  void clear() noexcept { count_ = size_ = 0; }
  std::size_t count() const noexcept { return count_; }
  std::size_t size() const noexcept { return size_; }  // bytes
  std::string_view operator[](std::size_t i) const noexcept { return pieces_[i]; }

 private:
  std::array<std::string_view, kMost> pieces_;
  std::size_t count_ = 0, size_ = 0;
};

// What was found: parts of the text, in order, that do not touch. More than fit become one, up to the end.
class SecretSpans {
 public:
  struct Span {
    std::uint32_t begin, end;
  };
  void add(std::size_t begin, std::size_t end, std::size_t text_bytes) noexcept;
  void clear() noexcept { count_ = 0; }
  const Span* begin() const noexcept { return spans_.data(); }
  const Span* end() const noexcept { return spans_.data() + count_; }
  bool empty() const noexcept { return count_ == 0; }

 private:
  std::array<Span, 128> spans_;
  std::size_t count_ = 0;
};

class SecretMatcher {
 public:
  // `values`: each of at least kSecretBytesMin bytes. Allocates.
  explicit SecretMatcher(std::span<const std::string> values);

  // Adds what is found in `text`. `cut`: more bytes followed, which were not kept; what may be the beginning of a
  // value then counts as found. Allocates nothing.
  void find(const TextPieces& text, bool cut, SecretSpans& spans) const noexcept;

 private:
  static constexpr std::size_t kWindow = 5, kBitmapBits = 1 << 16;
  struct Pattern {
    std::uint32_t begin, size;  // in bytes_
    std::uint32_t next;         // with the same bucket; kNone: the last
    bool wide_before, wide_after;
  };
  enum class Found { kNo, kYes, kTextEnded };
  class Cursor;
  class Place;

  static std::uint64_t hash(std::uint64_t window) noexcept { return window * 0x9E3779B97F4A7C15u >> 48; }
  bool may_begin(std::uint64_t window) const noexcept {
    const std::uint64_t h = hash(window);
    return (bitmap_[h >> 6] >> (h & 63) & 1) != 0;
  }
  void add_forms(std::string_view value);
  void add(std::string_view form, bool wide_before = false, bool wide_after = false);
  void add_base64(std::string_view value, std::string_view alphabet);
  void find_at(const Place& place, int decoded, bool cut, SecretSpans& spans) const noexcept;
  Found compare(const Pattern& pattern, Cursor text, int decoded, std::size_t& end) const noexcept;

  std::string bytes_;
  std::vector<Pattern> patterns_;
  std::vector<std::uint32_t> buckets_;  // by hash
  std::vector<std::uint64_t> bitmap_;   // of windows
  // Of the first one to four bytes of patterns; for the end of a text that was cut.
  std::array<std::vector<std::uint64_t>, kWindow - 1> beginnings_;
};

}  // namespace telltale::diag
