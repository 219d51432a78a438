// SPDX-License-Identifier: Apache-2.0
#pragma once
// RamCache: stored responses by key, in memory, bounded in bytes, least recently used out first.
//
// A key holds one response, or several that differ in what their requests' Vary fields were (vary.h): newest first,
// at most so many as the caller says, the oldest out first. Use and eviction are those of the key, with all it holds.
//
// Sharded so that workers seldom meet; the byte bound is one for all shards, so that an object may be as
// large as the whole cache. Room is reserved before an object goes in: the bound is never passed.
// It does not know freshness: the caller decides what to do with what it finds.
//
//                    | key absent          | key present
//   find             | nothing             | the newest that the request's fields choose; the key is most recently used
//   store            | in, others may go   | replaces what was chosen by the same values, and what has no Vary if it has
//                    |                     | one; a response without Vary replaces all; but none that was received
//                    |                     | later. Other keys may go
//   erase            | false               | all out, or the one that is named
//
// **Thread safety:** thread-safe; a shard's mutex is held for a look-up or a link change, never for a copy.

#include <array>
#include <atomic>
#include <cstddef>
#include <list>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "cache/cache_key.h"
#include "cache/stored_response.h"

namespace telltale::cache {

struct CacheCounters {
  std::size_t objects = 0;  // responses
  std::size_t bytes = 0;
  std::size_t capacity_bytes = 0;
  std::uint64_t evictions = 0;
};

class RamCache {
 public:
  // Variants of one key, where the caller does not say.
  static constexpr std::size_t kVariantsMax = 16;

  explicit RamCache(std::size_t capacity_bytes);
  RamCache(const RamCache&) = delete;
  RamCache& operator=(const RamCache&) = delete;

  struct Found {
    StoredResponsePtr response;  // null: none that this request chooses
    StoredResponsePtr other;     // then the newest there is under the key, null for none
  };
  // Cost: one mutex, no allocation; with Vary a comparison of fields for each variant.
  Found find(const CacheKey& key, const http::Fields& request);

  struct Stored {
    enum Outcome : std::uint8_t {
      kYes,
      kNoRoom,      // larger than the whole cache; what it would have replaced is out
      kChanged,     // invalidate() was called for the key since `generation` was taken
      kNewerThere,  // what it would replace was received later: that stays
    };
    Outcome outcome;
    explicit operator bool() const noexcept { return outcome == kYes; }
  };
  Stored store(const CacheKey& key, StoredResponsePtr response, std::size_t variants_max = kVariantsMax,
             std::uint32_t generation = kAnyGeneration);

  bool erase(const CacheKey& key);
  // This response only, and nothing where another has taken its place.
  bool erase(const CacheKey& key, const StoredResponsePtr& response);

  // As erase(), and what is on its way from the origin is not stored any more: it may be from before the change.
  bool invalidate(const CacheKey& key);
  // To be taken before the origin is asked. Keys share generations: now and then one is not stored for another's sake.
  std::uint32_t generation(const CacheKey& key) const noexcept {
    return generations_[key.hash % kGenerations].load(std::memory_order_relaxed);
  }
  static constexpr std::uint32_t kAnyGeneration = 0;

  // Takes effect at once: evicts down to the new bound. 0 = nothing is stored.
  void set_capacity(std::size_t capacity_bytes);

  CacheCounters counters() const;

 private:
  static constexpr std::size_t kShards = 64;
  static constexpr std::size_t kGenerations = 1024;

  struct Entry {
    std::string text;
    std::uint64_t hash;
    StoredResponsePtr response;               // the newest
    std::vector<StoredResponsePtr> variants;  // the others, newest first
    std::size_t bytes;                        // of all, and the key
  };
  using Recent = std::list<Entry>;  // front = most recently used
  struct SameHash {
    std::size_t operator()(const CacheKey& k) const noexcept { return k.hash; }
  };
  struct SameText {
    bool operator()(const CacheKey& a, const CacheKey& b) const noexcept { return a.text == b.text; }
  };
  struct alignas(64) Shard {
    mutable std::mutex mutex;
    Recent recent;                                                                 // guarded by mutex
    std::unordered_map<CacheKey, Recent::iterator, SameHash, SameText> by_key;     // guarded by mutex; keys refer to Entry::text
  };

  Shard& shard_of(const CacheKey& key) { return shards_[key.hash >> 58]; }
  template <class Unwanted>
  std::vector<StoredResponsePtr> take_out(Shard& shard, const CacheKey& key, Unwanted unwanted);
  Stored can_store(const Shard& shard, const CacheKey& key, const StoredResponse& response, std::uint32_t generation) const;
  std::vector<StoredResponsePtr> take_replaced(Shard& shard, const CacheKey& key, const StoredResponse& by);
  bool reserve(std::size_t bytes, std::size_t first_shard);
  bool evict_one(std::size_t first_shard);
  void count_out(const Entry& entry) noexcept;
  void evict_down();

  std::array<Shard, kShards> shards_;
  // Relaxed: the shard's mutex orders what matters, see invalidate(). kAnyGeneration would come after 4 billion changes.
  std::array<std::atomic<std::uint32_t>, kGenerations> generations_;
  // Sums over all shards. Relaxed but where evict_down() says why not: each change is atomic by itself, and no other
  // memory hangs on them.
  std::atomic<std::size_t> capacity_bytes_;
  std::atomic<std::size_t> bytes_{0};
  std::atomic<std::size_t> objects_{0};
  std::atomic<std::uint64_t> evictions_{0};
};

}  // namespace telltale::cache
