// SPDX-License-Identifier: Apache-2.0
#pragma once
// strict_json: is a text exactly one value of RFC 8259, in valid UTF-8, with no name twice in an object?
//
// **Thread safety:** immutable.

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

namespace telltale::test {

class StrictJson {
 public:
  explicit StrictJson(std::string_view text) : text_(text) {}
  bool valid() { return value(0) && at_ == text_.size(); }

 private:
  static constexpr int kDepthMax = 8;

  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool word(std::string_view w) {
    if (text_.substr(at_, w.size()) != w) return false;
    at_ += w.size();
    return true;
  }
  bool digits() {
    const std::size_t from = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
    return at_ > from;
  }
  bool number() {
    take('-');
    if (!take('0') && !digits()) return false;
    if (take('.') && !digits()) return false;
    if (take('e') || take('E')) {
      if (!take('+')) take('-');
      return digits();
    }
    return true;
  }
  // One code point that may stand in a string as it is.
  bool code_point() {
    const auto lead = static_cast<unsigned char>(text_[at_]);
    if (lead < 0x80) return lead >= 0x20 && ++at_ != 0;
    const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || at_ + bytes > text_.size()) return false;
    unsigned code = lead & (0xFFu >> (bytes + 1));
    for (std::size_t i = 1; i < bytes; ++i) {
      const auto next = static_cast<unsigned char>(text_[at_ + i]);
      if ((next & 0xC0) != 0x80) return false;
      code = code << 6 | (next & 0x3F);
    }
    const unsigned least = bytes == 2 ? 0x80 : bytes == 3 ? 0x800 : 0x10000;
    at_ += bytes;
    return code >= least && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
  }
  bool string(std::string* kept = nullptr) {
    const std::size_t from = at_ + 1;
    if (!take('"')) return false;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] == '\\') {
        ++at_;
        if (at_ >= text_.size() || std::string_view("\"\\/bfnrt").find(text_[at_]) == std::string_view::npos) return false;
        ++at_;
      } else if (!code_point()) {
        return false;
      }
    }
    if (kept != nullptr) *kept = text_.substr(from, at_ - from);
    return take('"');
  }
  bool object(int depth) {
    std::set<std::string> names;
    if (take('}')) return true;
    do {
      std::string name;
      if (!string(&name) || !names.insert(name).second || !take(':') || !value(depth + 1)) return false;
    } while (take(','));
    return take('}');
  }
  bool value(int depth) {
    if (depth > kDepthMax || at_ >= text_.size()) return false;
    if (take('{')) return object(depth);
    if (text_[at_] == '"') return string();
    return word("true") || word("false") || word("null") || number();
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace telltale::test
