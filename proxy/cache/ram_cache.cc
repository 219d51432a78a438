// SPDX-License-Identifier: Apache-2.0
// One bound for 64 shards: whoever stores reserves its bytes in a shared counter first, and evicts until
// they fit. Victims come from the storing shard first (its lock is warm), then from the next ones, so a
// shard that holds one huge object cannot keep it for ever. At most one shard lock is held at a time.
#include "cache/ram_cache.h"

#include <utility>

namespace telltale::cache {

StoredResponsePtr RamCache::find(const CacheKey& key) {
  Shard& shard = shard_of(key);
  std::lock_guard lock(shard.mutex);
  auto at = shard.by_key.find(key);
  if (at == shard.by_key.end()) return nullptr;
  shard.recent.splice(shard.recent.begin(), shard.recent, at->second);
  return at->second->response;
}

bool RamCache::store(const CacheKey& key, StoredResponsePtr response) {
  std::size_t bytes = response->size_bytes() + key.text.size();
  erase(key);
  if (!reserve(bytes, key.hash >> 58)) return false;

  Recent one;  // allocated outside the lock
  one.push_back(Entry{std::string(key.text), key.hash, std::move(response), bytes});
  StoredResponsePtr replaced;  // destroyed outside the lock
  std::size_t replaced_bytes = 0;
  {
    Shard& shard = shard_of(key);
    std::lock_guard lock(shard.mutex);
    auto at = shard.by_key.find(key);
    if (at != shard.by_key.end()) {  // stored by another thread since erase()
      replaced_bytes = at->second->bytes;
      replaced = std::exchange(at->second->response, std::move(one.front().response));
      at->second->bytes = bytes;
      shard.recent.splice(shard.recent.begin(), shard.recent, at->second);
    } else {
      shard.recent.splice(shard.recent.begin(), one);
      auto entry = shard.recent.begin();
      shard.by_key.emplace(CacheKey{entry->text, entry->hash}, entry);
      objects_.fetch_add(1, std::memory_order_relaxed);
    }
  }
  if (replaced) bytes_.fetch_sub(replaced_bytes, std::memory_order_relaxed);
  evict_down();  // the capacity may have been lowered since reserve()
  return true;
}

bool RamCache::erase(const CacheKey& key) {
  Recent out;
  {
    Shard& shard = shard_of(key);
    std::lock_guard lock(shard.mutex);
    auto at = shard.by_key.find(key);
    if (at == shard.by_key.end()) return false;
    out.splice(out.begin(), shard.recent, at->second);
    shard.by_key.erase(at);
  }
  bytes_.fetch_sub(out.front().bytes, std::memory_order_relaxed);
  objects_.fetch_sub(1, std::memory_order_relaxed);
  return true;
}

void RamCache::set_capacity(std::size_t capacity_bytes) {
  capacity_bytes_.store(capacity_bytes);
  evict_down();
}

// Sequentially consistent, as are the store of the capacity and the reservation: of a thread that stores and one
// that lowers the capacity at the same time, at least one sees what the other did.
void RamCache::evict_down() {
  while (bytes_.load() > capacity_bytes_.load() && evict_one(0)) {
  }
}

CacheCounters RamCache::counters() const {
  return {objects_.load(std::memory_order_relaxed), bytes_.load(std::memory_order_relaxed),
          capacity_bytes_.load(std::memory_order_relaxed), evictions_.load(std::memory_order_relaxed)};
}

bool RamCache::reserve(std::size_t bytes, std::size_t first_shard) {
  for (;;) {
    std::size_t capacity = capacity_bytes_.load(std::memory_order_relaxed);
    if (bytes > capacity) return false;
    std::size_t now = bytes_.load(std::memory_order_relaxed);
    if (now + bytes <= capacity) {
      if (bytes_.compare_exchange_weak(now, now + bytes)) return true;
    } else if (!evict_one(first_shard)) {
      return false;  // all that is left is reserved by others that have not stored yet
    }
  }
}

bool RamCache::evict_one(std::size_t first_shard) {
  for (std::size_t i = 0; i < kShards; ++i) {
    Shard& shard = shards_[(first_shard + i) % kShards];
    Recent out;
    {
      std::lock_guard lock(shard.mutex);
      if (shard.recent.empty()) continue;
      auto last = std::prev(shard.recent.end());
      shard.by_key.erase(CacheKey{last->text, last->hash});
      out.splice(out.begin(), shard.recent, last);
    }
    bytes_.fetch_sub(out.front().bytes, std::memory_order_relaxed);
    objects_.fetch_sub(1, std::memory_order_relaxed);
    evictions_.fetch_add(1, std::memory_order_relaxed);
    return true;
  }
  return false;
}

}  // namespace telltale::cache
