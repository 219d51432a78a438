// SPDX-License-Identifier: Apache-2.0
#include "cache/ram_cache.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/cache/responses.h"

namespace telltale::cache {
namespace {

using test::cost_of;
using test::find;
using test::response_of;

std::size_t shard_of(std::string_view text) { return cache_key(text).hash >> 58; }

// Keys of equal length that share a shard: there, "least recently used" is an order over all of them.
std::vector<std::string> keys_of_one_shard(std::size_t count) {
  std::vector<std::string> keys;
  const std::size_t shard = shard_of("http://a:80/100000");
  for (int i = 100000; keys.size() < count; ++i) {
    std::string text = "http://a:80/" + std::to_string(i);
    if (shard_of(text) == shard) keys.push_back(std::move(text));
  }
  return keys;
}

bool has(RamCache& cache, std::string_view text) { return find(cache, cache_key(text)) != nullptr; }

TEST_CASE("RamCache: find gives what was stored, and nothing for other keys", "[cache][ram]") {
  RamCache cache(1 << 20);
  CHECK(find(cache, cache_key("http://a:80/")) == nullptr);
  const auto response = response_of(10);
  CHECK(cache.store(cache_key("http://a:80/"), response));
  CHECK(find(cache, cache_key("http://a:80/")) == response);
  CHECK(find(cache, cache_key("http://a:80/x")) == nullptr);
  CHECK(find(cache, cache_key("")) == nullptr);
  CHECK(cache.counters().objects == 1);
  CHECK(cache.counters().bytes == cost_of(10, 12));
  CHECK(cache.counters().capacity_bytes == 1 << 20);
}

TEST_CASE("RamCache: the key's text need not outlive the call", "[cache][ram]") {
  RamCache cache(1 << 20);
  {
    std::string text = "http://a:80/a-key-that-is-too-long-for-the-inside-of-a-string";
    cache.store(cache_key(text), response_of(1));
    text.assign(text.size(), '#');
  }
  CHECK(has(cache, "http://a:80/a-key-that-is-too-long-for-the-inside-of-a-string"));
}

TEST_CASE("RamCache: store replaces what the key had", "[cache][ram]") {
  RamCache cache(1 << 20);
  const auto key = cache_key("k");
  cache.store(key, response_of(1000));
  const auto second = response_of(10);
  CHECK(cache.store(key, second));
  CHECK(find(cache, key) == second);
  CHECK(cache.counters().objects == 1);
  CHECK(cache.counters().bytes == cost_of(10, 1));
  CHECK(cache.counters().evictions == 0);
}

TEST_CASE("RamCache: erase takes out one key and says whether there was one", "[cache][ram]") {
  RamCache cache(1 << 20);
  cache.store(cache_key("a"), response_of(1));
  cache.store(cache_key("b"), response_of(2));
  CHECK(cache.erase(cache_key("a")));
  CHECK_FALSE(cache.erase(cache_key("a")));
  CHECK_FALSE(has(cache, "a"));
  CHECK(has(cache, "b"));
  CHECK(cache.counters().objects == 1);
  CHECK(cache.counters().bytes == cost_of(2, 1));
  CHECK(cache.counters().evictions == 0);
}

TEST_CASE("RamCache: two objects that fill it to the byte both stay, one byte more and the older goes", "[cache][ram]") {
  RamCache cache(cost_of(100, 1) + cost_of(200, 1));
  cache.store(cache_key("a"), response_of(100));
  SECTION("at the limit") {
    CHECK(cache.store(cache_key("b"), response_of(200)));
    CHECK(cache.counters().objects == 2);
    CHECK(cache.counters().bytes == cache.counters().capacity_bytes);
    CHECK(cache.counters().evictions == 0);
  }
  SECTION("at the limit + 1") {
    CHECK(cache.store(cache_key("b"), response_of(201)));
    CHECK_FALSE(has(cache, "a"));
    CHECK(has(cache, "b"));
    CHECK(cache.counters().objects == 1);
    CHECK(cache.counters().evictions == 1);
  }
}

TEST_CASE("RamCache: an object as large as the cache is stored, one byte more is not", "[cache][ram]") {
  RamCache cache(cost_of(5000, 1));
  cache.store(cache_key("a"), response_of(1));
  CHECK(cache.store(cache_key("b"), response_of(5000)));
  CHECK_FALSE(has(cache, "a"));
  CHECK(cache.counters().bytes == cache.counters().capacity_bytes);

  CHECK_FALSE(cache.store(cache_key("c"), response_of(5001)));
  CHECK_FALSE(has(cache, "c"));
  CHECK(has(cache, "b"));  // nothing was evicted in vain
}

TEST_CASE("RamCache: an object too large to be stored takes out what the key had", "[cache][ram]") {
  RamCache cache(cost_of(100, 1));
  cache.store(cache_key("a"), response_of(100));
  CHECK_FALSE(cache.store(cache_key("a"), response_of(101)));
  CHECK_FALSE(has(cache, "a"));  // else the old response would be served for the new one
  CHECK(cache.counters().bytes == 0);
  CHECK(cache.counters().objects == 0);
}

TEST_CASE("RamCache: a response replaced by a larger one is counted out before others are evicted", "[cache][ram]") {
  const auto keys = keys_of_one_shard(2);
  const std::size_t key_bytes = keys[0].size();
  RamCache cache(cost_of(100, key_bytes) + cost_of(300, key_bytes));
  cache.store(cache_key(keys[0]), response_of(100));
  cache.store(cache_key(keys[1]), response_of(200));
  CHECK(cache.store(cache_key(keys[1]), response_of(300)));
  CHECK(has(cache, keys[0]));
  CHECK(cache.counters().evictions == 0);
}

TEST_CASE("RamCache: the least recently used of a shard goes first, and finding is using", "[cache][ram]") {
  const auto keys = keys_of_one_shard(5);
  const std::size_t one = cost_of(10, keys[0].size());
  RamCache cache(3 * one);
  for (int i : {0, 1, 2}) cache.store(cache_key(keys[i]), response_of(10));
  CHECK(has(cache, keys[0]));  // now 1 is the oldest
  cache.store(cache_key(keys[3]), response_of(10));
  CHECK_FALSE(has(cache, keys[1]));
  cache.store(cache_key(keys[2]), response_of(10));  // storing again is using
  cache.store(cache_key(keys[4]), response_of(10));
  CHECK_FALSE(has(cache, keys[0]));
  CHECK(has(cache, keys[2]));
  CHECK(has(cache, keys[3]));
  CHECK(has(cache, keys[4]));
  CHECK(cache.counters().evictions == 2);
}

TEST_CASE("RamCache: an object in another shard is evicted when the storing shard is empty", "[cache][ram]") {
  const std::string first = "http://a:80/1";
  std::string second;
  for (int i = 2; second.empty(); ++i) {
    std::string text = "http://a:80/" + std::to_string(i);
    if (shard_of(text) != shard_of(first)) second = text;
  }
  RamCache cache(cost_of(100, 16));
  cache.store(cache_key(first), response_of(50));
  CHECK(cache.store(cache_key(second), response_of(50)));
  CHECK_FALSE(has(cache, first));
  CHECK(has(cache, second));
}

TEST_CASE("RamCache: a lower capacity evicts at once, 0 empties it and stores nothing", "[cache][ram]") {
  const auto keys = keys_of_one_shard(3);
  const std::size_t one = cost_of(10, keys[0].size());
  RamCache cache(3 * one);
  for (const auto& key : keys) cache.store(cache_key(key), response_of(10));
  cache.set_capacity(3 * one);
  CHECK(cache.counters().objects == 3);
  cache.set_capacity(3 * one - 1);
  CHECK(cache.counters().objects == 2);
  CHECK_FALSE(has(cache, keys[0]));
  cache.set_capacity(0);
  CHECK(cache.counters().objects == 0);
  CHECK(cache.counters().bytes == 0);
  CHECK(cache.counters().evictions == 3);
  CHECK_FALSE(cache.store(cache_key(keys[0]), response_of(0)));
  cache.set_capacity(one);
  CHECK(cache.store(cache_key(keys[0]), response_of(10)));
}

TEST_CASE("RamCache: a response lives on with its reader after it is evicted", "[cache][ram]") {
  RamCache cache(cost_of(100, 1));
  cache.store(cache_key("a"), response_of(100, 'a'));
  const StoredResponsePtr held = find(cache, cache_key("a"));
  cache.store(cache_key("b"), response_of(100));
  REQUIRE_FALSE(has(cache, "a"));
  CHECK(held->content == std::string(100, 'a'));
  CHECK(held.use_count() == 1);
}

// A variant: content and the value of X-A that chose it; null: without Vary.
StoredResponsePtr variant(const char* value, std::size_t content_bytes = 10) {
  auto response = std::make_shared<StoredResponse>();
  response->set_content(std::string(content_bytes, 'x'));
  if (value != nullptr) response->selecting = std::string("x-a\n=") + value + "\n";
  return response;
}
http::Fields asks_for(const char* value) { return test::fields_of({{"X-A", value}}); }

TEST_CASE("RamCache: a key holds a response for each value of the fields that it varies on", "[cache][ram][vary]") {
  RamCache cache(1 << 20);
  const auto key = cache_key("k");
  const auto one = variant("1"), two = variant("2"), new_one = variant("1", 20);
  CHECK(cache.store(key, one));
  CHECK(cache.store(key, two));
  CHECK(cache.find(key, asks_for("1")).response == one);
  CHECK(cache.find(key, asks_for("2")).response == two);
  const RamCache::Found none = cache.find(key, asks_for("3"));
  CHECK(none.response == nullptr);
  CHECK(none.other == two);  // the newest
  CHECK(cache.counters().objects == 2);
  CHECK(cache.counters().bytes == one->size_bytes() + two->size_bytes() + 1);
  CHECK(cache.store(key, new_one));  // replaces its like
  CHECK(cache.find(key, asks_for("1")).response == new_one);
  CHECK(cache.find(key, asks_for("2")).response == two);
  CHECK(cache.counters().bytes == new_one->size_bytes() + two->size_bytes() + 1);
  CHECK(cache.erase(key));
  CHECK(cache.counters().objects == 0);
  CHECK(cache.counters().bytes == 0);
}

TEST_CASE("RamCache: a response that was received earlier takes nothing from one that came later", "[cache][ram]") {
  RamCache cache(1 << 20);
  const CacheKey key = cache_key("http://a:80/x");
  auto received = [](int second, std::string selecting = "") {
    auto response = std::make_shared<StoredResponse>();
    response->stored_at = std::chrono::steady_clock::time_point{std::chrono::seconds{second}};
    response->selecting = std::move(selecting);
    return response;
  };
  const auto newer = received(10);
  CHECK(cache.store(key, newer));
  CHECK(cache.store(key, received(9)).outcome == RamCache::Stored::kNewerThere);
  CHECK(cache.store(key, received(9, "x-a\n=1\n")).outcome == RamCache::Stored::kNewerThere);
  CHECK(find(cache, key) == newer);
  const auto as_new = received(10);
  CHECK(cache.store(key, as_new));
  CHECK(find(cache, key) == as_new);
  CHECK(cache.counters().objects == 1);

  // Variants do not stand in each other's way.
  REQUIRE(cache.store(key, received(20, "x-a\n=1\n")));
  REQUIRE(cache.store(key, received(15, "x-a\n=2\n")));
  CHECK(cache.counters().objects == 2);
  CHECK(cache.store(key, received(18)).outcome == RamCache::Stored::kNewerThere);
  CHECK(cache.counters().objects == 2);

  // One that is from before a change takes nothing either.
  const std::uint32_t before = cache.generation(key);
  cache.invalidate(key);
  REQUIRE(cache.store(key, newer));
  CHECK(cache.store(key, received(30), RamCache::kVariantsMax, before).outcome == RamCache::Stored::kChanged);
  CHECK(find(cache, key) == newer);
}

TEST_CASE("RamCache: erasing one response leaves its variants, and what has taken its place", "[cache][ram][vary]") {
  RamCache cache(1 << 20);
  const CacheKey key = cache_key("http://a:80/x");
  auto variant = [](std::string value) {
    auto response = std::make_shared<StoredResponse>();
    response->selecting = "x-a\n=" + value + "\n";
    return response;
  };
  const auto one = variant("1"), two = variant("2"), three = variant("3");
  for (const auto& response : {one, two, three}) REQUIRE(cache.store(key, response));
  const std::size_t bytes = cache.counters().bytes;
  for (const auto& response : {two, three}) {  // one of the older ones, and the newest
    CHECK(cache.erase(key, response));
    CHECK_FALSE(cache.erase(key, response));
  }
  CHECK(cache.counters().objects == 1);
  CHECK(cache.counters().bytes == bytes - two->size_bytes() - three->size_bytes());
  CHECK(find(cache, key) == nullptr);  // no field at all chooses none
  const auto newer = variant("1");
  REQUIRE(cache.store(key, newer));
  CHECK_FALSE(cache.erase(key, one));
  CHECK(cache.counters().objects == 1);
  CHECK(cache.erase(key, newer));
  CHECK(cache.counters().objects == 0);
  CHECK(cache.counters().bytes == 0);
}

TEST_CASE("RamCache: of responses that vary on different fields the newest that matches is found", "[cache][ram][vary]") {
  RamCache cache(1 << 20);
  const auto key = cache_key("k");
  auto by_b = std::make_shared<StoredResponse>();
  by_b->selecting = "x-b\n=1\n";
  const auto by_a = variant("1");
  cache.store(key, by_b);
  cache.store(key, by_a);
  const http::Fields both = test::fields_of({{"X-A", "1"}, {"X-B", "1"}});
  CHECK(cache.find(key, both).response == by_a);
  cache.store(key, by_b);
  CHECK(cache.find(key, both).response == by_b);
}

TEST_CASE("RamCache: a response without Vary and those with one replace each other", "[cache][ram][vary]") {
  RamCache cache(1 << 20);
  const auto key = cache_key("k");
  const auto plain = variant(nullptr), one = variant("1");
  cache.store(key, one);
  cache.store(key, variant("2"));
  cache.store(key, plain);
  CHECK(cache.find(key, asks_for("1")).response == plain);
  CHECK(cache.counters().objects == 1);
  cache.store(key, one);
  CHECK(cache.find(key, asks_for("1")).response == one);
  CHECK(cache.find(key, asks_for("2")).response == nullptr);
  CHECK(cache.counters().objects == 1);
}

TEST_CASE("RamCache: so many variants as the limit stay, one more and the oldest goes", "[cache][ram][vary]") {
  RamCache cache(1 << 20);
  const auto key = cache_key("k");
  for (const char* value : {"1", "2", "3"}) cache.store(key, variant(value), 3);
  CHECK(cache.counters().objects == 3);
  CHECK(cache.counters().evictions == 0);
  cache.store(key, variant("4", 30), 3);
  CHECK(cache.counters().objects == 3);
  CHECK(cache.counters().evictions == 1);
  CHECK(cache.find(key, asks_for("1")).response == nullptr);
  for (const char* value : {"2", "3", "4"}) CHECK(cache.find(key, asks_for(value)).response != nullptr);
  cache.store(key, variant("5"), 1);  // the record was lowered
  CHECK(cache.counters().objects == 1);
  CHECK(cache.counters().bytes == variant("5")->size_bytes() + 1);
}

TEST_CASE("RamCache: variants count against the capacity, and a key goes with all of them", "[cache][ram][vary]") {
  const std::size_t one = variant("1")->size_bytes();
  RamCache cache(2 * one + 1);
  const auto key = cache_key("k");
  CHECK(cache.store(key, variant("1")));
  CHECK(cache.store(key, variant("2")));  // fills it: the key's byte is counted twice until it is in
  CHECK(cache.counters().bytes <= cache.counters().capacity_bytes);
  cache.store(cache_key("o"), response_of(10));
  CHECK(cache.counters().bytes <= cache.counters().capacity_bytes);
  cache.set_capacity(0);
  CHECK(cache.counters().objects == 0);
  CHECK(cache.counters().bytes == 0);
}

TEST_CASE("RamCache: what was asked for before a change is not stored after it", "[cache][ram]") {
  RamCache cache(1 << 20);
  const auto key = cache_key("k");
  const std::uint32_t before = cache.generation(key);
  CHECK(before != RamCache::kAnyGeneration);
  CHECK_FALSE(cache.invalidate(key));
  CHECK_FALSE(cache.store(key, response_of(10), 16, before));
  CHECK_FALSE(has(cache, "k"));
  CHECK(cache.counters().bytes == 0);
  CHECK(cache.store(key, response_of(10), 16, cache.generation(key)));
  CHECK(cache.invalidate(key));
  CHECK_FALSE(has(cache, "k"));
}

TEST_CASE("RamCache: threads that store and drop variants leave exact counters", "[cache][ram][vary]") {
  RamCache cache(20 * variant("1")->size_bytes());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      for (int step = 0; step < 10000; ++step) {
        const std::string text = "k" + std::to_string(random() % 4), value = std::to_string(random() % 6);
        const auto key = cache_key(text);
        if (random() % 10 == 0) cache.invalidate(key);
        else if (random() % 20 == 0) cache.store(key, variant(nullptr, random() % 100));
        else cache.store(key, variant(value.c_str(), random() % 100), 1 + random() % 5, random() % 2 == 0 ? cache.generation(key) : 0);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int k = 0; k < 4; ++k) cache.erase(cache_key("k" + std::to_string(k)));
  CHECK(cache.counters().objects == 0);
  CHECK(cache.counters().bytes == 0);
}

// The same rules, written as slowly and obviously as they are said.
class Model {
 public:
  explicit Model(std::size_t capacity) : capacity_(capacity) {}

  StoredResponsePtr find(const std::string& text) {
    for (Entry& e : entries_) {
      if (e.text == text) {
        e.used = ++clock_;
        return e.response;
      }
    }
    return nullptr;
  }
  bool erase(const std::string& text) {
    return std::erase_if(entries_, [&](const Entry& e) { return e.text == text; }) != 0;
  }
  bool store(const std::string& text, StoredResponsePtr response) {
    erase(text);
    const std::size_t cost = response->size_bytes() + text.size();
    if (cost > capacity_) return false;
    while (bytes() + cost > capacity_) evict(shard_of(text));
    entries_.push_back({text, std::move(response), ++clock_});
    return true;
  }
  void set_capacity(std::size_t capacity) {
    capacity_ = capacity;
    while (bytes() > capacity_) evict(0);
  }
  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const Entry& e : entries_) sum += e.response->size_bytes() + e.text.size();
    return sum;
  }
  std::size_t objects() const { return entries_.size(); }
  std::uint64_t evictions() const { return evictions_; }

 private:
  struct Entry {
    std::string text;
    StoredResponsePtr response;
    std::uint64_t used;
  };

  // The oldest of the first shard, counted from this one, that has any.
  void evict(std::size_t shard) {
    auto rank = [&](const Entry& e) { return std::pair((shard_of(e.text) + 64 - shard) % 64, e.used); };
    entries_.erase(std::min_element(entries_.begin(), entries_.end(),
                                    [&](const Entry& a, const Entry& b) { return rank(a) < rank(b); }));
    ++evictions_;
  }

  std::size_t capacity_;
  std::vector<Entry> entries_;
  std::uint64_t clock_ = 0;
  std::uint64_t evictions_ = 0;
};

TEST_CASE("RamCache: does what the obvious model does, on random input", "[cache][ram]") {
  std::mt19937 random(20261130);
  auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
  const std::size_t unit = cost_of(0, 3);
  for (int round = 0; round < 20; ++round) {
    const std::size_t capacity = below(12 * unit);
    RamCache cache(capacity);
    Model model(capacity);
    for (int step = 0; step < 1000; ++step) {
      const std::string text = "k" + std::to_string(10 + below(40));
      const std::size_t what = below(100);
      INFO("round " << round << ", step " << step << ", key " << text << ", " << what);
      if (what < 40) {
        REQUIRE(find(cache, cache_key(text)) == model.find(text));
      } else if (what < 90) {
        const auto response = response_of(below(2) == 0 ? below(50) : below(4 * unit));
        REQUIRE(static_cast<bool>(cache.store(cache_key(text), response)) == model.store(text, response));
      } else if (what < 98) {
        REQUIRE(cache.erase(cache_key(text)) == model.erase(text));
      } else {
        const std::size_t next = below(12 * unit);
        cache.set_capacity(next);
        model.set_capacity(next);
      }
      const CacheCounters counters = cache.counters();
      REQUIRE(counters.bytes == model.bytes());
      REQUIRE(counters.objects == model.objects());
      REQUIRE(counters.evictions == model.evictions());
      REQUIRE(counters.bytes <= counters.capacity_bytes);
    }
  }
}

TEST_CASE("RamCache: threads that store, find, erase and resize leave exact counters and a kept bound", "[cache][ram]") {
  constexpr int kThreads = 4, kKeys = 60, kSteps = 20000;
  const std::size_t unit = cost_of(0, 3);
  RamCache cache(10 * unit);
  std::vector<std::string> keys;
  for (int i = 0; i < kKeys; ++i) keys.push_back("k" + std::to_string(10 + i));
  std::atomic<bool> wrong{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      for (int step = 0; step < kSteps; ++step) {
        const std::string& text = keys[random() % kKeys];
        const auto key = cache_key(text);
        switch (random() % 8) {
          case 0: case 1: case 2:
            if (auto found = find(cache, key); found && found->content.find_first_not_of(text[1]) != std::string::npos) {
              wrong = true;
            }
            break;
          case 3: cache.erase(key); break;
          case 4:
            if (t == 0) cache.set_capacity((1 + random() % 12) * unit);
            break;
          default: cache.store(key, response_of(random() % 3000, text[1]));
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK_FALSE(wrong);

  std::size_t bytes = 0, objects = 0;
  for (const std::string& text : keys) {
    if (auto found = find(cache, cache_key(text))) {
      bytes += found->size_bytes() + text.size();
      ++objects;
    }
  }
  CHECK(cache.counters().bytes == bytes);
  CHECK(cache.counters().objects == objects);
  for (const std::string& text : keys) cache.erase(cache_key(text));
  CHECK(cache.counters().bytes == 0);
  CHECK(cache.counters().objects == 0);
}

TEST_CASE("RamCache: a capacity that is lowered while others store is kept afterwards", "[cache][ram]") {
  const std::size_t unit = cost_of(0, 3);
  for (int round = 0; round < 200; ++round) {
    RamCache cache(100 * unit);
    std::atomic<bool> lowered{false};
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; !lowered; ++i) cache.store(cache_key("k" + std::to_string(10 + t * 40 + i % 40)), response_of(0));
      });
    }
    cache.set_capacity(unit);
    lowered = true;
    for (std::thread& thread : threads) thread.join();
    REQUIRE(cache.counters().bytes <= unit);
  }
}

}  // namespace
}  // namespace telltale::cache
