// SPDX-License-Identifier: Apache-2.0
#include "cache/cache_key.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

namespace telltale::cache {
namespace {

std::string key_text(std::string_view host, std::uint16_t port, std::string_view target) {
  KeyText text;
  text.append("http://");
  text.append(host);
  text.append(":" + std::to_string(port));
  text.append(target);
  return std::string(text.view());
}

TEST_CASE("KeyText: it holds what was appended, within its own bytes and beyond", "[cache][key][limit]") {
  for (std::size_t size : {KeyText::kInline - 1, KeyText::kInline, KeyText::kInline + 1, std::size_t{5000}}) {
    KeyText text;
    std::string expected;
    for (const std::string& piece : {std::string("http://a:1"), std::string(), "/" + std::string(size - 11, 'x'), std::string("y")}) {
      text.append(piece);
      expected += piece;
      CHECK(text.size() == expected.size());
    }
    CHECK(text.view() == expected);
  }
}

TEST_CASE("CacheKey: targets that differ in a byte are different keys", "[cache][key]") {
  // Case B150: nothing is normalised in the key that is not normalised on the wire.
  const std::vector<std::string> targets{"/",  "/\\", "/%5C", "/%5c", "//",  "/./", "/a/../", "/%2e",
                                         "/?", "/A",  "/a",   "/a/",  "/a?", "/a?b", "/a%3Fb"};
  std::set<std::string> texts;
  std::set<std::uint64_t> hashes;
  for (const std::string& target : targets) {
    const std::string text = key_text("a", 80, target);
    texts.insert(text);
    hashes.insert(cache_key(text).hash);
  }
  CHECK(texts.size() == targets.size());
  CHECK(hashes.size() == targets.size());
}

TEST_CASE("CacheKey: the same text has the same hash wherever it lies", "[cache][key]") {
  const std::string one = "http://a:80/x", other = "http://a:80/x";
  CHECK(cache_key(one).hash == cache_key(other).hash);
  CHECK(cache_key(one).text.data() == one.data());
  CHECK(cache_key("").hash == cache_key(std::string_view{}).hash);
}

TEST_CASE("CacheKey: the bits that choose a shard are spread", "[cache][key]") {
  std::vector<int> shards(64);
  for (int i = 0; i < 6400; ++i) ++shards[cache_key("http://a:80/" + std::to_string(i)).hash >> 58];
  for (int count : shards) {
    CHECK(count > 40);  // of 100 on average: six standard deviations
    CHECK(count < 160);
  }
}

}  // namespace
}  // namespace telltale::cache
