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
  append_key_origin(text, host, port);
  text.append(target);
  return {text.data(), text.size()};
}

TEST_CASE("CacheKey: the text is the URI the origin gets, port always named", "[cache][key]") {
  CHECK(key_text("a.example", 80, "/x?y") == "http://a.example:80/x?y");
  CHECK(key_text("127.0.0.1", 65535, "/") == "http://127.0.0.1:65535/");
  const std::string long_target = "/" + std::string(5000, 'x');  // beyond what a KeyText holds inside
  CHECK(key_text("a", 1, long_target) == "http://a:1" + long_target);
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
