// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a tag may be: 1 to 64 bytes of printable ASCII without space and '%'. One rule, used by the
// compiler for DbgCtl and at run time for everything else.

#include <cstddef>
#include <string_view>

namespace telltale::diag {

inline constexpr std::size_t kTagBytesMax = 64;

constexpr bool valid_tag(std::string_view tag) noexcept {
  if (tag.empty() || tag.size() > kTagBytesMax) return false;
  for (char c : tag) {
    if (c <= ' ' || c > '~' || c == '%') return false;
  }
  return true;
}

}  // namespace telltale::diag
