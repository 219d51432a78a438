// SPDX-License-Identifier: Apache-2.0
#pragma once
// RamCache: stored responses by key, in memory, bounded in bytes, least recently used out first.
//
// Sharded so that workers seldom meet; the byte bound is one for all shards, so that an object may be as
// large as the whole cache. Room is reserved before an object goes in: the bound is never passed.
// It does not know freshness: the caller decides what to do with what it finds.
//
//                    | key absent          | key present
//   find             | null                | the response, now most recently used
//   store            | in, others may go   | replaces, others may go
//   erase            | false               | out
//
// **Thread safety:** thread-safe; a shard's mutex is held for a look-up or a link change, never for a copy.

#include <array>
#include <atomic>
#include <cstddef>
#include <list>
#include <mutex>
#include <string>
#include <unordered_map>

#include "cache/cache_key.h"
#include "cache/stored_response.h"

namespace telltale::cache {

struct CacheCounters {
  std::size_t objects = 0;
  std::size_t bytes = 0;
  std::size_t capacity_bytes = 0;
  std::uint64_t evictions = 0;
};

class RamCache {
 public:
  explicit RamCache(std::size_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}
  RamCache(const RamCache&) = delete;
  RamCache& operator=(const RamCache&) = delete;

  // Null when there is none. Cost: one mutex, no allocation.
  StoredResponsePtr find(const CacheKey& key);

  // False: larger than the whole cache, not stored (and what was there under the key is out).
  bool store(const CacheKey& key, StoredResponsePtr response);

  bool erase(const CacheKey& key);

  // Takes effect at once: evicts down to the new bound. 0 = nothing is stored.
  void set_capacity(std::size_t capacity_bytes);

  CacheCounters counters() const;

 private:
  static constexpr std::size_t kShards = 64;

  struct Entry {
    std::string text;
    std::uint64_t hash;
    StoredResponsePtr response;
    std::size_t bytes;
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
  bool reserve(std::size_t bytes, std::size_t first_shard);
  bool evict_one(std::size_t first_shard);
  void evict_down();

  std::array<Shard, kShards> shards_;
  // Sums over all shards. Relaxed but where evict_down() says why not: each change is atomic by itself, and no other
  // memory hangs on them.
  std::atomic<std::size_t> capacity_bytes_;
  std::atomic<std::size_t> bytes_{0};
  std::atomic<std::size_t> objects_{0};
  std::atomic<std::uint64_t> evictions_{0};
};

}  // namespace telltale::cache
