// SPDX-License-Identifier: Apache-2.0
#pragma once
// RingFront: what an enabled site needs of its thread's ring to write a record by itself, without a call.
//
// A record that comes after a pause costs what it misses in the caches, above all in that of page addresses. So the
// front of a ring is lent to its thread as a thread-local, and what is read beside it is the site, the page of the
// ring that is written anyway, and nothing else. Everything else about rings is in the library's ring.h. Modules are
// built on these layouts: they only ever grow at their ends.
//
// **Thread safety:** the thread's own, but for what is atomic.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <telltale/diag/export.h>

namespace telltale::diag {

class Ring;
struct Site;

// In the ring's memory. Positions only grow; position & mask is the offset in the data.
struct RingPositions {
  std::atomic<std::uint64_t> published{0};  // release by the producer, acquire by readers
  std::atomic<std::uint64_t> claimed{0};
  std::atomic<std::uint64_t> records{0};
  std::atomic<std::uint32_t> plain{0};      // of plain_site.h; 0: sites ask, and the library writes
};

struct RingFront {
  RingPositions* positions = nullptr;
  std::uint64_t write = 0;    // where the next record begins
  std::uint64_t limit = 0;    // a record that ends behind it needs the library
  std::uint64_t look_at = 0;  // from here on, ring_reached() after each record
  char* data = nullptr;
  std::uint32_t mask = 0;
  bool open = false;          // a record is being written; another one meanwhile is refused by the library
};

// One cache line, but for its last member.
struct alignas(64) ThreadRecords {
  RingFront front;
  const Site* asked = nullptr;     // the site that was last said yes to ...
  std::uint32_t asked_number = 0;  // ... its number, and where its line goes: see route.h
  Ring* ring = nullptr;            // whose front it is; null: none yet, and the front has no room
};
// Initial-exec: one load through the thread pointer.
extern TELLTALE_EXPORT constinit thread_local ThreadRecords tl_records __attribute__((tls_model("initial-exec")));

// A number beyond is one that has bits of route.h.
inline constexpr std::uint32_t kSiteNumberMost = (1u << 19) - 1;

// The record that this thread just published reached RingFront::look_at: wakes the backend if it is time.
TELLTALE_EXPORT void ring_reached() noexcept __attribute__((cold));

}  // namespace telltale::diag
