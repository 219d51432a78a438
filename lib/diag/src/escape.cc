// SPDX-License-Identifier: Apache-2.0
// See escape.h. Nearly all text is plain ASCII: 16 bytes are looked at at once, and text that is all plain is copied
// as a whole; of other text the plain runs are.
#include "escape.h"

#include <cstdint>
#include <cstring>

namespace telltale::diag {

namespace {

constexpr std::uint64_t kOnes = 0x0101010101010101, kHighs = 0x8080808080808080;

constexpr std::uint64_t zero_bytes(std::uint64_t x) { return (x - kOnes) & ~x & kHighs; }

// Not 0 if any of the eight bytes is not printable ASCII, or is a backslash.
constexpr std::uint64_t unplain(std::uint64_t x) {
  return (x & kHighs) | ((x - kOnes * 0x20) & ~x & kHighs) | zero_bytes(x ^ (kOnes * 0x7F)) |
         zero_bytes(x ^ (kOnes * '\\'));
}

constexpr bool plain(unsigned char c) { return c >= 0x20 && c < 0x7F && c != '\\'; }

template <class Word = std::uint64_t>
Word word_at(const char* at) noexcept {
  Word word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

// Bytes are compared as signed: those from 80 on are negative, and so below the blank.
using Sixteen = signed char __attribute__((vector_size(16)));

bool are_plain(Sixteen bytes) noexcept {
  const auto plain = (bytes >= 0x20) & (bytes != 0x7F) & (bytes != '\\');
  std::uint64_t halves[2];
  std::memcpy(halves, &plain, sizeof halves);
  return (halves[0] & halves[1]) == ~std::uint64_t{0};
}

// The first and the last `sizeof(Word)` bytes of a text that has so many, and not twice as many.
template <class Word>
Sixteen ends_of(const char* at, std::size_t bytes) noexcept {
  const std::uint64_t two[2] = {word_at<Word>(at), word_at<Word>(at + bytes - sizeof(Word))};
  Sixteen both;
  if constexpr (sizeof(Word) == 8) {
    std::memcpy(&both, two, sizeof both);
  } else {
    const std::uint64_t one = two[0] | two[1] << 32;
    const std::uint64_t twice[2] = {one, one};
    std::memcpy(&both, twice, sizeof both);
  }
  return both;
}

std::size_t plain_run(std::string_view text) {
  std::size_t i = 0;
  while (i + 8 <= text.size() && unplain(word_at(text.data() + i)) == 0) i += 8;
  while (i < text.size() && plain(static_cast<unsigned char>(text[i]))) ++i;
  return i;
}

struct Sequence {
  std::size_t bytes;  // 0: not valid UTF-8
  char32_t code;
};

Sequence utf8_sequence(std::string_view text) {
  auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char lead = byte(0);
  std::size_t bytes = lead >= 0xC2 && lead <= 0xDF ? 2 : (lead & 0xF0) == 0xE0 ? 3 : lead >= 0xF0 && lead <= 0xF4 ? 4 : 0;
  if (bytes == 0 || bytes > text.size()) return {0, 0};
  char32_t code = lead & (0xFFu >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {0, 0};
    code = code << 6 | (byte(i) & 0x3F);
  }
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[bytes] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return {0, 0};
  return {bytes, code};
}

constexpr bool harmful(char32_t code) {
  return (code >= 0x80 && code <= 0x9F) || (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

template <class Out>
void append_hex(Out& out, char c) {
  constexpr char kDigits[] = "0123456789abcdef";
  auto byte = static_cast<unsigned char>(c);
  char hex[4] = {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
  out.append(hex, sizeof hex);
}

template <class Out>
void append_in_runs(Out& out, std::string_view text) {
  while (!text.empty()) {
    std::size_t run = plain_run(text);
    out.append(text.substr(0, run));
    text.remove_prefix(run);
    if (text.empty()) return;
    std::size_t taken = 1;
    switch (char c = text[0]; c) {
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      default: {
        Sequence sequence = utf8_sequence(text);
        if (sequence.bytes == 0) {
          append_hex(out, c);
          break;
        }
        taken = sequence.bytes;
        if (!harmful(sequence.code)) {
          out.append(text.substr(0, taken));
        } else {
          for (char part : text.substr(0, taken)) append_hex(out, part);
        }
      }
    }
    text.remove_prefix(taken);
  }
}

}  // namespace

bool is_plain(std::string_view text) noexcept {
  const char* at = text.data();
  std::size_t left = text.size();
  if (left >= 16) {
    for (; left > 16; at += 16, left -= 16) {
      if (!are_plain(word_at<Sixteen>(at))) return false;
    }
    return are_plain(word_at<Sixteen>(at + left - 16));  // overlaps the one before
  }
  if (left >= 8) return are_plain(ends_of<std::uint64_t>(at, left));
  if (left >= 4) return are_plain(ends_of<std::uint32_t>(at, left));
  for (; left > 0; ++at, --left) {
    if (!plain(static_cast<unsigned char>(*at))) return false;
  }
  return true;
}

void append_escaped(std::string& out, std::string_view text) { append_in_runs(out, text); }

void append_escaped(TextBuffer& out, std::string_view text) {
  if (is_plain(text)) [[likely]] {
    out.append(text);
  } else {
    append_in_runs(out, text);
  }
}

}  // namespace telltale::diag
