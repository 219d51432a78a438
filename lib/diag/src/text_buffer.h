// SPDX-License-Identifier: Apache-2.0
#pragma once
// TextBuffer: text that is appended to in small parts, millions of times a second: what std::string is for, but the
// room for several parts is asked for once, is not cleared first, and is written through a pointer.
//
//   char* at = out.room(bytes);  // at least so many may be written there
//   out.end_at(at + written);
//
// **Thread safety:** thread-compatible. Views and pointers hold until the next call that appends.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>

namespace telltale::diag {

class TextBuffer {
 public:
  std::size_t size() const noexcept { return size_; }
  std::string_view view() const noexcept { return {data_.get(), size_}; }
  std::string_view from(std::size_t begin) const noexcept { return {data_.get() + begin, size_ - begin}; }
  void clear() noexcept { size_ = 0; }
  // REQUIRES: size <= size().
  void cut(std::size_t size) noexcept { size_ = size; }

  // Behind the text. Errors: std::bad_alloc; the text stays as it was.
  char* room(std::size_t bytes) {
    if (capacity_ - size_ < bytes) [[unlikely]] grow(bytes);
    return data_.get() + size_;
  }
  // REQUIRES: `end` lies in the room asked for last, or at its end.
  void end_at(const char* end) noexcept { size_ = static_cast<std::size_t>(end - data_.get()); }

  TextBuffer& append(std::string_view text) { return append(text.data(), text.size()); }
  TextBuffer& append(const char* text, std::size_t bytes) {
    char* at = room(bytes);
    if (bytes != 0) std::memcpy(at, text, bytes);
    size_ += bytes;
    return *this;
  }
  TextBuffer& operator+=(std::string_view text) { return append(text); }
  TextBuffer& operator+=(char c) {
    *room(1) = c;
    ++size_;
    return *this;
  }

 private:
  [[gnu::noinline, gnu::cold]] void grow(std::size_t bytes) {
    std::size_t capacity = std::max(capacity_ * 2, std::max<std::size_t>(size_ + bytes, 512));
    std::unique_ptr<char[]> larger(new char[capacity]);
    if (size_ != 0) std::memcpy(larger.get(), data_.get(), size_);
    data_ = std::move(larger);
    capacity_ = capacity;
  }

  std::unique_ptr<char[]> data_;
  std::size_t size_ = 0, capacity_ = 0;
};

// Copies text that has kCopySlack bytes behind it to where there is as much room behind it: shorter than a call.
inline constexpr std::size_t kCopySlack = 16;
inline char* put_in_steps(char* at, const char* text, std::size_t bytes) noexcept {
  for (std::size_t done = 0; done < bytes; done += kCopySlack) std::memcpy(at + done, text + done, kCopySlack);
  return at + bytes;
}

}  // namespace telltale::diag
