// SPDX-License-Identifier: Apache-2.0
// See ring_table.h.
#include "ring_table.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>
#include <utility>

#include "recorder_files.h"
#include "ticks.h"

namespace telltale::diag {

constinit thread_local ThreadRecords tl_records __attribute__((tls_model("initial-exec"))) = {
    .front = {.positions = &no_positions}};
constinit thread_local Ring* tl_recorder_ring __attribute__((tls_model("initial-exec"))) = nullptr;

namespace {

constinit thread_local char tl_name[kThreadNameBytes] __attribute__((tls_model("initial-exec"))) = {};

constexpr std::size_t kRingBytesLeast = 64 * 1024, kRingBytesMost = 16 * 1024 * 1024;

void thread_ended(void*) {
  for (RingUse use : {RingUse::kOutput, RingUse::kRecorder}) {
    if (Ring* ring = own_ring(use)) ring_table().give_back(ring);
  }
}

// Without a key (the process has used up all of them) rings of ended threads stay taken: bounded by kRingsMax.
struct ThreadEndKey {
  pthread_key_t key;
  bool made;
  ThreadEndKey() noexcept : made(pthread_key_create(&key, thread_ended) == 0) {}
};
const ThreadEndKey& thread_end_key() noexcept {
  static const ThreadEndKey key;
  return key;
}

std::string_view own_name() noexcept {
  if (tl_name[0] == '\0') std::snprintf(tl_name, sizeof tl_name, "thread-%ld", syscall(SYS_gettid));
  return tl_name;
}

}  // namespace

RingTable& ring_table() noexcept {
  alignas(RingTable) static char memory[sizeof(RingTable)];
  static RingTable* table = new (memory) RingTable;
  return *table;
}

Ring* RingTable::take() noexcept {
  std::lock_guard lock(mutex_);
  Ring* ring = take_from(rings_, size_, RingUse::kOutput);
  if (ring == nullptr) {
    may_have_one_.store(false, std::memory_order_relaxed);
    return nullptr;
  }
  ring->lend(tl_records.front);
  return tl_records.ring = ring;
}

Ring* RingTable::take_for_recorder() noexcept {
  std::lock_guard lock(mutex_);
  Ring* ring = take_from(recorder_rings_, recorder_size_, RingUse::kRecorder);
  return ring == nullptr ? nullptr : tl_recorder_ring = ring;
}

Ring* RingTable::take_from(Places& places, std::atomic<std::size_t>& size, RingUse use) noexcept {
  choose_ticks();
  std::string_view name = own_name();
  const bool in_file = recorder_files().on();
  std::size_t n = size.load(std::memory_order_relaxed);
  Ring* ring = nullptr;
  // Rings of the kind wanted now, then a new one, then any.
  for (int pass = 0; pass < 3 && ring == nullptr; ++pass) {
    if (pass == 1) {
      if (n < kRingsMax && (ring = make(places[n], n, use)) != nullptr) size.store(n + 1, std::memory_order_release);
      continue;
    }
    for (std::size_t i = 0; i < n && ring == nullptr; ++i) {
      Place& place = places[i];
      if (place.owned) continue;
      if (pass == 0 && (place.ring->capacity_bytes() != ring_bytes_ || place.in_file != in_file)) continue;
      std::uint64_t drops = place.ring->drops().total();
      if (!place.ring->take_over(name)) continue;
      place.drops_before = drops;
      place.ring->retire(false);
      ring = place.ring;
      settle(place, name);
    }
  }
  if (ring != nullptr && thread_end_key().made) pthread_setspecific(thread_end_key().key, ring);
  return ring;
}

// Header and data in one mapping, populated: page faults now, at the thread's first record, rather than one by
// one under its traffic.
Ring* RingTable::make(Place& place, std::size_t i, RingUse use) noexcept {
  const std::size_t bytes = RingHeader::bytes_of(ring_bytes_) + ring_bytes_;
  const MappedRing file = recorder_files().map_ring(use, i, bytes);
  void* memory = file.at;
  if (memory == nullptr) {
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
  }
  place.mapped = memory;
  place.mapped_bytes = bytes;
  place.in_file = file.at != nullptr;
  place.ring = new (place.object.data()) Ring(static_cast<char*>(memory), ring_bytes_, recorder_files().describe(use, i));
  place.ring->take_over(own_name());
  settle(place, own_name());
  return place.ring;
}

// What a retired ring still holds is drained like that of a thread that has ended. Its records are not in the
// directory; they are those of before the recorder.
void RingTable::retire_private_rings() noexcept {
  {
    std::lock_guard lock(mutex_);
    for (Places* places : {&rings_, &recorder_rings_}) {
      for (Place& place : *places) {
        if (place.ring != nullptr && !place.in_file) place.ring->retire();
      }
    }
  }
  for (RingUse use : {RingUse::kOutput, RingUse::kRecorder}) {
    Ring* own = own_ring(use);
    if (own == nullptr || !own->retired() || own->is_open()) continue;
    give_back(own);  // the next record takes another
  }
}

void RingTable::settle(Place& place, std::string_view name) noexcept {
  place.owned = true;
  place.records_before = place.ring->records();
  for (std::size_t slot = 0; slot < place.slots_before.size(); ++slot) place.slots_before[slot] = place.ring->drops().count(slot);
  std::memset(place.name, 0, sizeof place.name);
  std::memcpy(place.name, name.data(), std::min(name.size(), sizeof place.name - 1));
}

void RingTable::give_back(Ring* ring) noexcept {
  std::lock_guard lock(mutex_);
  if (Place* place = place_of(ring)) {
    ring->leave();
    if (ring == tl_records.ring) {
      ring->take_back();
      tl_records.ring = nullptr;
    } else if (ring == tl_recorder_ring) {
      tl_recorder_ring = nullptr;
    }
    place->owned = false;
    may_have_one_.store(true, std::memory_order_relaxed);
  }
}

RingTable::Place* RingTable::place_of(Ring* ring) noexcept {
  for (Places* places : {&rings_, &recorder_rings_}) {
    for (Place& place : *places) {
      if (place.ring == ring) return &place;
    }
  }
  return nullptr;
}

void RingTable::rename_owner(Ring* ring, std::string_view name) noexcept {
  std::lock_guard lock(mutex_);
  if (Place* place = place_of(ring)) {
    std::memset(place->name, 0, sizeof place->name);
    std::memcpy(place->name, name.data(), std::min(name.size(), sizeof place->name - 1));
  }
}

std::vector<ThreadOutput> RingTable::owners() {
  std::lock_guard lock(mutex_);
  std::vector<ThreadOutput> all;
  for (std::size_t i = 0; i < size_.load(std::memory_order_relaxed); ++i) {
    const Place& place = rings_[i];
    if (!place.owned) continue;
    all.push_back({place.name, place.ring->records() - place.records_before,
                   place.ring->drops().total() - place.drops_before});
  }
  return all;
}

std::vector<RingTable::Drops> RingTable::drops_by_key() {
  std::vector<Drops> all;
  auto add = [&all](std::string_view thread, const DropKey& key, std::uint64_t count) {
    if (count == 0) return;
    for (Drops& one : all) {
      if (one.thread == thread && one.key.packed() == key.packed()) {
        one.count += count;
        return;
      }
    }
    all.push_back({std::string(thread), key, count});
  };
  std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < size_.load(std::memory_order_relaxed); ++i) {
    const Place& place = rings_[i];
    const DropCounts& drops = place.ring->drops();
    for (std::size_t slot = 0; slot < DropCounts::kSlots; ++slot) {
      std::uint64_t count = drops.count(slot);
      if (count == 0) continue;
      std::uint64_t before = place.owned ? place.slots_before[slot] : count;
      add(place.name, drops.key(slot), count - before);
      add("ended threads", drops.key(slot), before);
    }
  }
  for (std::size_t slot = 0; slot < DropCounts::kSlots; ++slot) {
    std::uint64_t count = homeless_.count(slot);
    if (count != 0) add("threads without a ring", homeless_.key(slot), count);
  }
  return all;
}

std::uint64_t RingTable::records() noexcept {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < size(); ++i) sum += rings_[i].ring->records();
  return sum;
}

std::uint64_t RingTable::drops() noexcept {
  std::uint64_t sum = homeless_.total();
  for (std::size_t i = 0; i < size(); ++i) sum += rings_[i].ring->drops().total();
  return sum;
}

RecorderState RingTable::recorder_state() {
  std::lock_guard lock(mutex_);
  RecorderState state;
  for (const auto& [places, count] : {std::pair(&rings_, &size_), std::pair(&recorder_rings_, &recorder_size_)}) {
    for (std::size_t i = 0; i < count->load(std::memory_order_relaxed); ++i) {
      const Place& place = (*places)[i];
      const bool of_recorder = places == &recorder_rings_;
      if (of_recorder) {
        state.records += place.ring->records();
        state.dropped += place.ring->drops().total();
      }
      if (!place.in_file) {
        state.private_rings += place.owned;
        continue;
      }
      ++state.rings;
      state.recorder_rings += of_recorder;
      state.bytes += place.mapped_bytes;
    }
  }
  return state;
}

bool RingTable::set_ring_bytes(std::size_t bytes) noexcept {
  if (bytes < kRingBytesLeast || bytes > kRingBytesMost || (bytes & (bytes - 1)) != 0) return false;
  std::lock_guard lock(mutex_);
  ring_bytes_ = bytes;
  return true;
}

// In a forked child: the only thread left is the one that forked. Its key still names the parent's ring.
void RingTable::forget() noexcept {
  if ((own_ring() != nullptr || tl_recorder_ring != nullptr) && thread_end_key().made) {
    pthread_setspecific(thread_end_key().key, nullptr);
  }
  tl_records.front = RingFront{.positions = &no_positions};
  tl_records.ring = tl_recorder_ring = nullptr;
  for (Places* places : {&rings_, &recorder_rings_}) {
    for (Place& place : *places) {
      // One in a file is not there (MADV_DONTFORK); something else may be, by now.
      if (place.ring != nullptr && !place.in_file) munmap(place.mapped, place.mapped_bytes);
      place = Place{};
    }
  }
  size_.store(0, std::memory_order_relaxed);
  recorder_size_.store(0, std::memory_order_relaxed);
  may_have_one_.store(true, std::memory_order_relaxed);
  homeless_.~DropCounts();
  new (&homeless_) DropCounts;
}

void set_thread_name(std::string_view name) noexcept {
  std::memset(tl_name, 0, sizeof tl_name);
  std::memcpy(tl_name, name.data(), std::min(name.size(), sizeof tl_name - 1));
  if (name.empty()) own_name();
  for (Ring* ring : {own_ring(), tl_recorder_ring}) {
    if (ring == nullptr) continue;
    ring->rename(tl_name);
    ring_table().rename_owner(ring, tl_name);
  }
}

}  // namespace telltale::diag
