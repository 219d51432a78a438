// SPDX-License-Identifier: Apache-2.0
#pragma once

// A name (of a field or of a query key) made comparable: lower case, without `-`, `_` and `.`. Used by
// redact_name.cc and redact_url.cc only.
//
// **Thread safety:** thread-compatible.

#include <array>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "http/token.h"

namespace telltale::http {

class PlainName {
 public:
  static constexpr std::size_t kMax = 128;

  void add(char c) {
    if (c == '-' || c == '_' || c == '.') return;
    if (size_ == kMax) {
      // The end of a name tells more than its beginning ("...access_token").
      std::memmove(bytes_.data(), bytes_.data() + kMax / 2, kMax / 2);
      size_ = kMax / 2;
      cut_ = true;
    }
    bytes_[size_++] = lower(c);
  }
  void clear() { size_ = 0, cut_ = false; }
  bool empty() const { return size_ == 0; }
  bool cut() const { return cut_; }  // longer than kMax: only its end is here
  std::string_view text() const { return {bytes_.data(), size_}; }

 private:
  std::size_t size_ = 0;
  bool cut_ = false;
  std::array<char, kMax> bytes_;  // the first size_ are set
};

// True if a query key that reads like this has a secret value.
bool is_secret_plain_key(std::string_view plain);

}  // namespace telltale::http
