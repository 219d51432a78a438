// SPDX-License-Identifier: Apache-2.0
// See secret_matcher.h.
#include "secret_matcher.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace telltale::diag {

namespace {

constexpr std::uint32_t kNone = 0xFFFFFFFF;
constexpr int kDecodedMost = 3;  // times that a value may have been percent-encoded
constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kBase64Url = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

constexpr int hex_value(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

constexpr bool is_base64(char c) noexcept {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '/' || c == '-' || c == '_';
}

std::uint64_t window_of(const char* five) noexcept {
  std::uint64_t window = 0;
  std::memcpy(&window, five, 5);
  return window;
}

constexpr bool has_percent(std::uint64_t window) noexcept {
  constexpr std::uint64_t kOnes = 0x0101010101, kHighs = 0x8080808080;
  const std::uint64_t x = window ^ (kOnes * '%');
  return ((x - kOnes) & ~x & kHighs) != 0;
}

std::string hex_of(std::string_view value, const char* digits) {
  std::string hex;
  for (char c : value) hex.append(1, digits[static_cast<unsigned char>(c) >> 4]).append(1, digits[static_cast<unsigned char>(c) & 15]);
  return hex;
}

// `value` with each byte of `which` doubled, or with `before` in front of it.
std::string with_before(std::string_view value, std::string_view which, char before) {
  std::string out;
  for (char c : value) {
    if (which.find(c) != std::string_view::npos) out += before == '\0' ? c : before;
    out += c;
  }
  return out;
}

}  // namespace

void SecretSpans::add(std::size_t begin, std::size_t end, std::size_t text_bytes) noexcept {
  while (count_ > 0 && begin < spans_[count_ - 1].end) {
    --count_;
    begin = std::min<std::size_t>(begin, spans_[count_].begin);
    end = std::max<std::size_t>(end, spans_[count_].end);
  }
  if (count_ + 1 == spans_.size()) end = text_bytes;
  spans_[count_++] = {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)};
}

// A place in the text. Copied freely.
class SecretMatcher::Cursor {
 public:
  Cursor(const TextPieces& text, std::size_t piece, std::size_t offset, std::size_t position) noexcept
      : text_(&text), piece_(piece), offset_(offset), position_(position) {
    skip();
  }
  bool ended() const noexcept { return piece_ == text_->count(); }
  std::size_t position() const noexcept { return position_; }
  char peek() const noexcept { return (*text_)[piece_][offset_]; }
  char next() noexcept {
    const char c = peek();
    ++offset_, ++position_;
    skip();
    return c;
  }
  // Percent-decoded so many times; none: the text ended, perhaps inside an escape.
  std::optional<char> next(int decoded) noexcept {
    if (ended()) return std::nullopt;
    if (decoded == 0) return next();
    const std::optional<char> c = next(decoded - 1);
    if (c != '%') return c;
    Cursor ahead = *this;
    int value = 0;
    for (int digit = 0; digit < 2; ++digit) {
      const std::optional<char> read = ahead.next(decoded - 1);
      if (!read) return std::nullopt;
      const int four_bits = hex_value(*read);
      if (four_bits < 0) return c;
      value = value * 16 + four_bits;
    }
    *this = ahead;
    return static_cast<char>(value);
  }

 private:
  void skip() noexcept {
    while (piece_ < text_->count() && offset_ == (*text_)[piece_].size()) ++piece_, offset_ = 0;
  }

  const TextPieces* text_;
  std::size_t piece_, offset_, position_;
};

// Where a value may begin.
class SecretMatcher::Place {
 public:
  Place(const TextPieces& text, std::size_t piece, std::size_t offset, std::size_t position, char before) noexcept
      : cursor(text, piece, offset, position), text_bytes(text.size()), before(before) {}
  Cursor cursor;
  std::size_t text_bytes;
  char before;  // the byte in front; NUL: none
};

SecretMatcher::SecretMatcher(std::span<const std::string> values) : bitmap_(kBitmapBits / 64) {
  for (auto& bits : beginnings_) bits.resize(kBitmapBits / 64);
  for (const std::string& value : values) add_forms(value);
  std::size_t count = 16;
  while (count < 2 * patterns_.size()) count *= 2;
  buckets_.assign(count, kNone);
  for (std::uint32_t i = 0; i < patterns_.size(); ++i) {
    std::uint32_t& bucket = buckets_[hash(window_of(bytes_.data() + patterns_[i].begin)) & (count - 1)];
    patterns_[i].next = bucket;
    bucket = i;
  }
}

// A control byte or quote is written with a backslash in JSON, a brace doubled in a format, a space as + in a form.
void SecretMatcher::add_forms(std::string_view value) {
  add(value);
  if (value.find_first_of("\"\\") != std::string_view::npos) add(with_before(value, "\"\\", '\\'));
  if (value.find_first_of("{}") != std::string_view::npos) add(with_before(value, "{}", '\0'));
  if (value.find(' ') != std::string_view::npos) {
    std::string form(value);
    std::replace(form.begin(), form.end(), ' ', '+');
    add(form);
  }
  add(hex_of(value, "0123456789abcdef"));
  add(hex_of(value, "0123456789ABCDEF"));
  add_base64(value, kBase64);
  add_base64(value, kBase64Url);
}

void SecretMatcher::add_base64(std::string_view value, std::string_view alphabet) {
  for (std::size_t before = 0; before < 3; ++before) {
    const std::size_t bits = (before + value.size()) * 8, first = (before * 8 + 5) / 6, end = bits / 6;
    std::string form;
    for (std::size_t i = first; i < end; ++i) {
      unsigned six = 0;
      for (std::size_t bit = i * 6; bit < i * 6 + 6; ++bit) {
        const auto byte = static_cast<unsigned char>(value[bit / 8 - before]);
        six = six << 1 | (byte >> (7 - bit % 8) & 1u);
      }
      form += alphabet[six];
    }
    add(form, before != 0, bits % 6 != 0);
  }
}

void SecretMatcher::add(std::string_view form, bool wide_before, bool wide_after) {
  for (const Pattern& known : patterns_) {
    if (known.size == form.size() && bytes_.compare(known.begin, known.size, form) == 0) return;
  }
  patterns_.push_back({static_cast<std::uint32_t>(bytes_.size()), static_cast<std::uint32_t>(form.size()), kNone, wide_before, wide_after});
  bytes_ += form;
  auto set = [](std::vector<std::uint64_t>& bits, std::uint64_t window) {
    const std::uint64_t h = hash(window);
    bits[h >> 6] |= std::uint64_t{1} << (h & 63);
  };
  const std::uint64_t window = window_of(form.data());
  set(bitmap_, window);
  for (std::size_t bytes = 1; bytes < kWindow; ++bytes) set(beginnings_[bytes - 1], window & ((std::uint64_t{1} << (8 * bytes)) - 1));
}

void SecretMatcher::find(const TextPieces& text, bool cut, SecretSpans& spans) const noexcept {
  bool encoded = false;
  for (std::size_t piece = 0; piece < text.count(); ++piece) encoded = encoded || text[piece].find('%') != std::string_view::npos;
  const int decoded_most = encoded ? kDecodedMost : 0;
  std::size_t position = 0;
  char before = '\0';
  for (std::size_t piece = 0; piece < text.count(); ++piece) {
    const std::string_view bytes = text[piece];
    for (std::size_t offset = 0; offset < bytes.size(); ++offset, ++position) {
      bool look = true;
      if (bytes.size() - offset >= kWindow) {
        const std::uint64_t window = window_of(bytes.data() + offset);
        look = may_begin(window) || has_percent(window);
      }
      if (look) {
        const Place place{text, piece, offset, position, before};
        for (int decoded = 0; decoded <= decoded_most; ++decoded) find_at(place, decoded, cut, spans);
      }
      before = bytes[offset];
    }
  }
}

void SecretMatcher::find_at(const Place& place, int decoded, bool cut, SecretSpans& spans) const noexcept {
  char five[kWindow] = {};
  std::size_t have = 0;
  Cursor cursor = place.cursor;
  for (std::optional<char> c; have < kWindow && (c = cursor.next(decoded)); ++have) five[have] = *c;
  const std::uint64_t window = window_of(five);
  if (have < kWindow) {
    // Of an escape that was cut, anything may have begun.
    const std::uint64_t h = hash(window);
    if (cut && (have == 0 || (beginnings_[have - 1][h >> 6] >> (h & 63) & 1) != 0)) {
      spans.add(place.cursor.position(), place.text_bytes, place.text_bytes);
    }
    return;
  }
  if (!may_begin(window)) return;
  for (std::uint32_t i = buckets_[hash(window) & (buckets_.size() - 1)]; i != kNone; i = patterns_[i].next) {
    const Pattern& pattern = patterns_[i];
    std::size_t end = 0;
    Found found = compare(pattern, place.cursor, decoded, end);
    if (found == Found::kTextEnded && cut) {
      end = place.text_bytes;
      found = Found::kYes;
    }
    if (found != Found::kYes) continue;
    const bool wider = pattern.wide_before && place.cursor.position() > 0 && is_base64(place.before);
    spans.add(place.cursor.position() - wider, end, place.text_bytes);
  }
}

SecretMatcher::Found SecretMatcher::compare(const Pattern& pattern, Cursor text, int decoded, std::size_t& end) const noexcept {
  for (std::size_t i = 0; i < pattern.size; ++i) {
    const std::optional<char> c = text.next(decoded);
    if (!c) return Found::kTextEnded;
    if (*c != bytes_[pattern.begin + i]) return Found::kNo;
  }
  if (pattern.wide_after && !text.ended() && is_base64(text.peek())) text.next();
  end = text.position();
  return Found::kYes;
}

}  // namespace telltale::diag
