// SPDX-License-Identifier: Apache-2.0
#pragma once
// Stored responses and heads for the tests of the cache.

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>

#include "cache/ram_cache.h"
#include "cache/stored_response.h"

namespace telltale::cache::test {

inline StoredResponsePtr response_of(std::size_t content_bytes, char fill = 'x') {
  auto response = std::make_shared<StoredResponse>();
  response->set_content(std::string(content_bytes, fill));
  return response;
}

// What a response of `content_bytes` takes under a key of `key_bytes`.
inline std::size_t cost_of(std::size_t content_bytes, std::size_t key_bytes) {
  return response_of(content_bytes)->size_bytes() + key_bytes;
}

// What a request without fields finds.
inline StoredResponsePtr find(RamCache& cache, const CacheKey& key) { return cache.find(key, {}).response; }

inline http::Fields fields_of(std::initializer_list<std::pair<const char*, const char*>> list) {
  http::Fields fields;
  for (const auto& [name, value] : list) fields.add_copy(name, value);
  return fields;
}

}  // namespace telltale::cache::test
