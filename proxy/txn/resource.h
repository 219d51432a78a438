// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a transaction asks for, as its origin and the cache know it. A handful of views; made by remap().
//
// **Thread safety:** immutable.

#include <string_view>

#include "cache/cache_key.h"

namespace telltale::txn {

struct Resource {
  cache::CacheKey key{};
  std::string_view authority;  // the origin's, as text
  std::string_view target;     // as the origin gets it
};

}  // namespace telltale::txn
