// SPDX-License-Identifier: Apache-2.0
// One bound for 64 shards: whoever stores reserves its bytes in a shared counter first, and evicts until
// they fit. Victims come from the storing shard first (its lock is warm), then from the next ones, so a
// shard that holds one huge object cannot keep it for ever. At most one shard lock is held at a time.
#include "cache/ram_cache.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "cache/vary.h"

namespace telltale::cache {
namespace {

bool replaces(const StoredResponse& by, const StoredResponse& r) {
  return by.selecting.empty() || r.selecting.empty() || r.selecting == by.selecting;
}

}  // namespace

RamCache::RamCache(std::size_t capacity_bytes) : capacity_bytes_(capacity_bytes) {
  for (auto& generation : generations_) generation.store(1, std::memory_order_relaxed);
}

RamCache::Found RamCache::find(const CacheKey& key, const http::Fields& request) {
  Shard& shard = shard_of(key);
  std::lock_guard lock(shard.mutex);
  auto at = shard.by_key.find(key);
  if (at == shard.by_key.end()) return {};
  shard.recent.splice(shard.recent.begin(), shard.recent, at->second);
  const Entry& entry = *at->second;
  if (entry.response->selecting.empty() || selected_by(entry.response->selecting, request)) return {entry.response, {}};
  for (const StoredResponsePtr& variant : entry.variants) {
    if (selected_by(variant->selecting, request)) return {variant, {}};
  }
  return {{}, entry.response};
}

// Takes the responses that are `unwanted` out of their entry; an entry left empty is out too.
// REQUIRES: the shard's mutex is held.
template <class Unwanted>
std::vector<StoredResponsePtr> RamCache::take_out(Shard& shard, const CacheKey& key, Unwanted unwanted) {
  std::vector<StoredResponsePtr> out;
  auto at = shard.by_key.find(key);
  if (at == shard.by_key.end()) return out;
  Entry& entry = *at->second;
  std::size_t bytes = 0;
  auto take = [&](StoredResponsePtr& r) {
    bytes += r->size_bytes();
    out.push_back(std::move(r));
  };
  std::erase_if(entry.variants, [&](StoredResponsePtr& r) {
    if (!unwanted(r)) return false;
    take(r);
    return true;
  });
  if (unwanted(entry.response)) {
    take(entry.response);
    if (!entry.variants.empty()) {
      entry.response = std::move(entry.variants.front());
      entry.variants.erase(entry.variants.begin());
    }
  }
  entry.bytes -= bytes;
  if (!entry.response) {
    bytes += entry.bytes;  // the key
    auto gone = at->second;
    shard.by_key.erase(at);
    shard.recent.erase(gone);
  }
  bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  objects_.fetch_sub(out.size(), std::memory_order_relaxed);
  return out;
}

// What a new response takes the place of. REQUIRES: as take_out().
std::vector<StoredResponsePtr> RamCache::take_replaced(Shard& shard, const CacheKey& key, const StoredResponse& by) {
  return take_out(shard, key, [&](const StoredResponsePtr& r) { return replaces(by, *r); });
}

// REQUIRES: the shard's mutex is held.
RamCache::Stored RamCache::can_store(const Shard& shard, const CacheKey& key, const StoredResponse& response,
                                     std::uint32_t generation) const {
  if (generation != kAnyGeneration && generation != this->generation(key)) return {Stored::kChanged};
  auto at = shard.by_key.find(key);
  if (at == shard.by_key.end()) return {Stored::kYes};
  auto newer = [&](const StoredResponsePtr& r) { return replaces(response, *r) && r->stored_at > response.stored_at; };
  const Entry& entry = *at->second;
  const bool there = newer(entry.response) || std::any_of(entry.variants.begin(), entry.variants.end(), newer);
  return {there ? Stored::kNewerThere : Stored::kYes};
}

RamCache::Stored RamCache::store(const CacheKey& key, StoredResponsePtr response, std::size_t variants_max, std::uint32_t generation) {
  Shard& shard = shard_of(key);
  std::vector<StoredResponsePtr> replaced, too_many;  // destroyed outside the lock
  {
    std::lock_guard lock(shard.mutex);
    if (const Stored may = can_store(shard, key, *response, generation); !may) return may;
    replaced = take_replaced(shard, key, *response);
  }
  const std::size_t bytes = response->size_bytes() + key.text.size();
  if (!reserve(bytes, key.hash >> 58)) return {Stored::kNoRoom};

  Recent one;  // allocated outside the lock
  one.push_back(Entry{std::string(key.text), key.hash, std::move(response), {}, bytes});
  std::size_t given_back = 0;
  Stored stored{};
  {
    std::lock_guard lock(shard.mutex);
    stored = can_store(shard, key, *one.front().response, generation);
    if (!stored) {
      given_back = bytes;
    } else {
      // Others may have stored since, by the same values too.
      std::vector<StoredResponsePtr> again = take_replaced(shard, key, *one.front().response);
      replaced.insert(replaced.end(), std::make_move_iterator(again.begin()), std::make_move_iterator(again.end()));
      auto at = shard.by_key.find(key);
      if (at == shard.by_key.end()) {
        shard.recent.splice(shard.recent.begin(), one);
        auto entry = shard.recent.begin();
        shard.by_key.emplace(CacheKey{entry->text, entry->hash}, entry);
      } else {
        Entry& entry = *at->second;
        entry.variants.insert(entry.variants.begin(), std::move(entry.response));
        entry.response = std::move(one.front().response);
        entry.bytes += bytes - key.text.size();
        given_back = key.text.size();
        while (entry.variants.size() + 1 > std::max<std::size_t>(variants_max, 1)) {
          const std::size_t least = entry.variants.back()->size_bytes();
          entry.bytes -= least;
          given_back += least;
          too_many.push_back(std::move(entry.variants.back()));
          entry.variants.pop_back();
        }
        shard.recent.splice(shard.recent.begin(), shard.recent, at->second);
      }
      objects_.fetch_add(1, std::memory_order_relaxed);
      objects_.fetch_sub(too_many.size(), std::memory_order_relaxed);
    }
  }
  bytes_.fetch_sub(given_back, std::memory_order_relaxed);
  evictions_.fetch_add(too_many.size(), std::memory_order_relaxed);
  evict_down();  // the capacity may have been lowered since reserve()
  return stored;
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
  count_out(out.front());
  return true;
}

bool RamCache::erase(const CacheKey& key, const StoredResponsePtr& response) {
  std::vector<StoredResponsePtr> out;  // destroyed outside the lock
  Shard& shard = shard_of(key);
  {
    std::lock_guard lock(shard.mutex);
    out = take_out(shard, key, [&](const StoredResponsePtr& r) { return r == response; });
  }
  return !out.empty();
}

bool RamCache::invalidate(const CacheKey& key) {
  // A store() that compares after erase()'s critical section sees this; what an earlier one put in, erase() takes out.
  generations_[key.hash % kGenerations].fetch_add(1, std::memory_order_relaxed);
  return erase(key);
}

void RamCache::count_out(const Entry& entry) noexcept {
  bytes_.fetch_sub(entry.bytes, std::memory_order_relaxed);
  objects_.fetch_sub(1 + entry.variants.size(), std::memory_order_relaxed);
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
    count_out(out.front());
    evictions_.fetch_add(1 + out.front().variants.size(), std::memory_order_relaxed);
    return true;
  }
  return false;
}

}  // namespace telltale::cache
