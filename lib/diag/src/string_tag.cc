// SPDX-License-Identifier: Apache-2.0
//
// Calls that name their tag by a string: a table from name to Tag, so that a call costs one look-up. The
// verdict itself is the Tag's, kept right by every change, so the table is written only when a name is
// new. It is open addressing over twice as many places as names, probed linearly; names never leave.
#include <array>
#include <atomic>
#include <mutex>
#include <new>
#include <shared_mutex>

#include <pthread.h>

#include <telltale/diag/debug_control.h>
#include <telltale/diag/one_writer_multi_reader.h>
#include <telltale/diag/tag.h>

#include "place.h"
#include "registry.h"
#include "registry_immortal.h"
#include "string_tag.h"

namespace telltale::diag {
namespace {

class StringTags {
 public:
  Tag* find(std::string_view name, std::uint64_t hash) noexcept {
    std::shared_lock guard(lock_);
    return *place_of(name, hash);
  }
  // False: the table is full.
  bool insert(Tag& tag) noexcept {
    std::unique_lock guard(lock_);
    Tag** place = place_of(tag.name, tag.hash);
    if (*place != nullptr) return true;
    if (count_.load(std::memory_order_relaxed) == kStringTagsMax) return false;
    *place = &tag;
    count_.fetch_add(1, std::memory_order_relaxed);
    return true;
  }
  bool full() const noexcept { return count_.load(std::memory_order_relaxed) == kStringTagsMax; }

  std::atomic<std::uint64_t> uncached{0};

  OneWriterMultiReader& lock() noexcept { return lock_; }

 private:
  Tag** place_of(std::string_view name, std::uint64_t hash) noexcept {
    std::size_t at = hash % places_.size();
    while (places_[at] != nullptr && places_[at]->name != name) at = (at + 1) % places_.size();
    return &places_[at];
  }

  OneWriterMultiReader lock_;
  std::array<Tag*, 2 * kStringTagsMax> places_{};  // guarded by lock_
  std::atomic<std::size_t> count_{0};              // written under lock_
};

constinit Immortal<StringTags> the_string_tags;

// See OneWriterMultiReader, "fork()".
__attribute__((constructor)) void watch_forks() noexcept {
  pthread_atfork([] { the_string_tags.value.lock().lock(); }, [] { the_string_tags.value.lock().unlock(); },
                 [] { the_string_tags.value.lock().unlock_after_fork(); });
}

// The cache is full: matches the name against the sources in force, and keeps nothing.
bool match_uncached(std::string_view name, const Place* place, bool flag) {
  the_string_tags.value.uncached.fetch_add(1, std::memory_order_relaxed);
  Tag passing;
  passing.name = name;
  return tag_wanted_uncached(passing, Flavour::kString, place, flag);
}

bool wanted(Tag& tag, const Place* place, bool flag) noexcept {
  return place == nullptr ? tag_wanted(tag, Flavour::kString, flag) : tag_wanted_at(tag, Flavour::kString, *place, flag);
}

bool string_tag_wanted(std::string_view name, const Place* place, bool flag) noexcept try {
  if (name.size() > kTagBytesMax) return false;
  StringTags& cache = the_string_tags.value;
  std::uint64_t hash = hash_bytes(name.data(), name.size());
  if (Tag* known = cache.find(name, hash)) return wanted(*known, place, flag);
  if (!valid_tag(name)) return false;
  if (cache.full()) return match_uncached(name, place, flag);
  Tag* tag = intern_tag(name);
  if (tag == nullptr || !cache.insert(*tag)) return match_uncached(name, place, flag);
  return wanted(*tag, place, flag);
} catch (const std::bad_alloc&) {
  return false;
}

}  // namespace

bool string_tag_wanted(std::string_view name, bool flag) noexcept { return string_tag_wanted(name, nullptr, flag); }
bool string_tag_wanted_at(std::string_view name, const Place& place, bool flag) noexcept {
  return string_tag_wanted(name, &place, flag);
}

std::uint64_t string_tags_uncached() noexcept {
  return the_string_tags.value.uncached.load(std::memory_order_relaxed) + places_uncached();
}

}  // namespace telltale::diag
