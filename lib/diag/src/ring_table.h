// SPDX-License-Identifier: Apache-2.0
#pragma once
// The table of all rings: hands one to each thread that writes, takes it back when the thread ends.
//
// A ring is mapped memory, a file of the flight recorder's directory where that is on; never unmapped while the
// process lives (but for a forked child, which drops the parent's), at most kRingsMax of them. A thread that gets
// none has its records counted as dropped. As many again are for what is recorded without output: those
// overwrite, and nobody drains them.
//
// When the recorder is switched on, private rings are retired: their threads come for another one at the
// end of a block.
//
// How a thread's end is noticed: a pthread key's destructor. A thread_local with a destructor would
// register with the dynamic loader under its lock, which is what deadlocked other servers; a key's
// destructor is a plain function pointer, safe because the library is linked with -z nodelete and
// never goes away. It runs after all C++ thread_local destructors, so those may still write. A record
// written even later, by another key's destructor, takes a ring again and sets the key again, which the
// C library repeats PTHREAD_DESTRUCTOR_ITERATIONS times.
//
// **Thread safety:** thread-safe; take() and give_back() lock, the look-ups do not.

#include <array>
#include <atomic>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <telltale/diag/output.h>
#include <telltale/diag/recorder.h>

#include "ring.h"

namespace telltale::diag {

class RingTable {
 public:
  // The calling thread's ring, or null: none is free. Sets it as the thread's until the thread ends.
  Ring* take() noexcept;
  Ring* take_for_recorder() noexcept;
  void give_back(Ring* ring) noexcept;  // by the thread that has it
  bool may_have_one() const noexcept { return may_have_one_.load(std::memory_order_relaxed); }
  // The backend has read something: a ring that was too full to change hands may do so now.
  void look_again() noexcept {
    if (!may_have_one()) may_have_one_.store(true, std::memory_order_relaxed);
  }

  // Rings ever made; each lives on. Acquire: its partner is the release of the ring's making.
  std::size_t size() const noexcept { return size_.load(std::memory_order_acquire); }
  Ring& operator[](std::size_t i) noexcept { return *rings_[i].ring; }

  // Sites of all threads ask, and the library writes for them, until they are let again. REQUIRES: the registry's lock
  // is held.
  void forget_plain() noexcept {
    for (std::size_t i = 0, n = size(); i < n; ++i) rings_[i].ring->set_plain(0);
  }
  // Lines that sites wrote for a source, all leases together that had its number.
  std::uint64_t lines(unsigned source) const noexcept {
    std::uint64_t sum = 0;
    for (std::size_t i = 0, n = size(); i < n; ++i) sum += rings_[i].ring->lines(source);
    return sum;
  }

  void rename_owner(Ring* ring, std::string_view name) noexcept;
  std::vector<ThreadOutput> owners();
  struct Drops {
    std::string thread;
    DropKey key;
    std::uint64_t count;
  };
  std::vector<Drops> drops_by_key();
  std::uint64_t records() noexcept;
  std::uint64_t drops() noexcept;  // with those of threads without a ring
  RecorderState recorder_state();  // without the directory

  bool set_ring_bytes(std::size_t bytes) noexcept;
  // The calling thread has another ring, if it had one, when this returns.
  void retire_private_rings() noexcept;

  // For threads without a ring.
  DropCounts& homeless() noexcept { return homeless_; }

  // Around fork(); forget() unmaps all rings, in the child.
  void lock() noexcept { mutex_.lock(); }
  void unlock() noexcept { mutex_.unlock(); }
  void forget() noexcept;

 private:
  struct Place {
    alignas(Ring) std::array<char, sizeof(Ring)> object;  // not in the mapping: nobody but us writes it
    Ring* ring = nullptr;
    void* mapped = nullptr;
    std::size_t mapped_bytes = 0;
    bool owned = false;
    bool in_file = false;
    char name[kThreadNameBytes] = {};
    std::uint64_t records_before = 0, drops_before = 0;  // of former owners
    std::array<std::uint64_t, DropCounts::kSlots> slots_before{};  // likewise, of drops by slot
  };
  using Places = std::array<Place, kRingsMax>;
  Ring* take_from(Places& places, std::atomic<std::size_t>& size, RingUse use) noexcept;
  Ring* make(Place& place, std::size_t i, RingUse use) noexcept;
  void settle(Place& place, std::string_view name) noexcept;
  Place* place_of(Ring* ring) noexcept;

  std::mutex mutex_;
  Places rings_{};  // guarded by mutex_, but for Place::ring below size_: constant
  std::atomic<std::size_t> size_{0};
  Places recorder_rings_{};  // likewise
  std::atomic<std::size_t> recorder_size_{0};
  std::atomic<bool> may_have_one_{true};  // a hint that spares threads without a ring the lock
  std::size_t ring_bytes_ = kRingBytesDefault;  // guarded by mutex_
  DropCounts homeless_;
};

// The one table; immortal.
RingTable& ring_table() noexcept;

// The calling thread's rings; that for output is in ThreadRecords. Initial-exec, trivial: no guard, no destructor.
extern constinit thread_local Ring* tl_recorder_ring __attribute__((tls_model("initial-exec")));

inline Ring* own_ring(RingUse use = RingUse::kOutput) noexcept {
  return use == RingUse::kOutput ? tl_records.ring : tl_recorder_ring;
}

}  // namespace telltale::diag
