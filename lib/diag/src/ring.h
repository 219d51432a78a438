// SPDX-License-Identifier: Apache-2.0
#pragma once
// Ring: the bounded queue of one thread's records. One producer, one consumer (the backend), bytes.
//
// Records lie in one piece: what does not fit before the end of the buffer starts at its beginning,
// behind a pad. Positions only grow; position & (capacity - 1) is the offset. When a record does not
// fit it is dropped and counted, never waited for; before the next one that fits, a gap record says
// where the loss was. The last eighth is kept for warnings and above, so that a flood of debug lines
// cannot hide them. After a loss, lesser records are taken again once half the ring is free, so that a
// reader gets long runs with few gaps instead of a line here and there.
//
// A ring that overwrites (the flight recorder's) has no consumer, and always has room: the oldest records go.
//
// Every ring, also after its records were consumed, can be read by whoever has its bytes: ring_header.h. For
// this the producer passes through claim() once a block; the fast path's one limit is the nearer of the
// room's end and the block's, so nothing is added to it. What the fast path needs is the front, which the ring lends to its
// thread: a site writes most records by itself (dbg.h), as reserve() and publish() do.
//
//   producer       room                 no room                       loss not yet announced
//   reserve()      pointer              null, drop counted            gap record first, if it fits too
//   publish()      visible to consumer  -                             -
//   consumer
//   published()    end of what may be read; consumed() gives the room back
//
// Besides records the ring carries four kinds of its own, told by their site number: pads, names (the
// thread that writes is called so from here on), clients (the connection is of this one) and gaps. So a ring may change hands, or its thread be
// renamed, with records still queued.
//
// **Thread safety:** producer's functions by the owning thread only, consumer's by the backend only.
// Partners: published (release by producer, acquire by consumer) covers the bytes; read_ (release by
// consumer, acquire by producer) covers their reuse; retire() is asked for by anybody. No read-modify-write,
// no lock.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <telltale/diag/ring_front.h>

#include "ring_drops.h"
#include "ring_header.h"
#include "source_bits.h"

namespace telltale::diag {

inline constexpr std::uint32_t kPadSite = 0xFFFFFFFF;   // only size_bytes and site are valid
inline constexpr std::uint32_t kNameSite = 0xFFFFFFFE;  // header, `connection` the kernel's id, kThreadNameBytes of name
inline constexpr std::uint32_t kClientSite = 0xFFFFFFFC;  // header, `connection` whose, 16 bytes of address
inline constexpr std::uint32_t kGapSite = 0xFFFFFFFD;   // header, `connection` times RingGap

// In a gap record: so many were dropped in all under the ring's drop slot, of these so many since the last gap.
struct RingGap {
  std::uint64_t slot;
  std::uint64_t count;
  std::uint64_t fresh;
};

// Of fronts without a ring: no site is plainly on.
extern constinit RingPositions no_positions;

class alignas(64) Ring {
 public:
  // `memory` has RingHeader::bytes_of(capacity_bytes) + capacity_bytes zero bytes, is aligned to 64, and outlives
  // the ring. `capacity_bytes` is a power of two.
  Ring(char* memory, std::size_t capacity_bytes, const RingAbout& about) noexcept;
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  // Producer.

  // Room for a record of at most `bytes`, a multiple of 8; null: dropped and counted under `key`.
  // The record is open until publish(); whoever writes a record into an open one loses it.
  char* reserve(std::size_t bytes, DropKey key) noexcept {
    const bool urgent = key.level >= Level::kWarning;
    RingFront& front = *front_;
    if (front.open || front.write + bytes > (urgent ? limit_urgent_ : front.limit)) [[unlikely]] {
      return reserve_slowly(bytes, urgent, key);
    }
    front.open = true;
    return front.data + (front.write & front.mask);
  }
  // The record just reserved has `bytes` bytes, a multiple of 8. True: the ring crossed half full, the
  // consumer should be woken.
  bool publish(std::size_t bytes) noexcept {
    RingFront& front = *front_;
    RingPositions& positions = header_.positions;
    front.open = false;
    front.write += bytes;
    positions.records.store(positions.records.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    positions.published.store(front.write, std::memory_order_release);
    return front.write >= front.look_at && crossed_half();
  }
  // A record reached look_at: did it cross half full?
  bool crossed_half() noexcept;
  // Gives the record just reserved up: nobody sees it, and its room is free again.
  void cancel() noexcept { front_->open = false; }
  char* open_record() const noexcept { return front_->data + (front_->write & front_->mask); }  // the one reserved last
  bool is_open() const noexcept { return front_->open; }
  // Its thread has a record open in another ring: until let_go(), one here is nested and is lost.
  void hold() noexcept { front_->open = true; }
  void let_go() noexcept { front_->open = false; }
  // The connection is of the client with this address. False: not told, for want of room.
  bool tell_client(std::uint64_t connection, const std::array<std::uint8_t, 16>& address) noexcept;
  void count_nested(DropKey key) noexcept { drop(key, DropReason::kNested); }

  void rename(std::string_view name) noexcept;
  // A new thread takes the ring over, with records of the former one perhaps still queued. False: there
  // is no room yet to say so.
  bool take_over(std::string_view name) noexcept;
  // The thread ends: announces a loss if there is room.
  void leave() noexcept;
  // The front is at `place` from now on; until take_back(), which leaves one without room there.
  void lend(RingFront& place) noexcept;
  void take_back() noexcept;
  void add_line(unsigned source) noexcept {
    lines_[source].store(lines_[source].load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  // Consumer.
  std::uint64_t published() const noexcept { return header_.positions.published.load(std::memory_order_acquire); }
  const char* at(std::uint64_t position) const noexcept { return data_ + (position & mask_); }
  void consumed(std::uint64_t position) noexcept { read_.store(position, std::memory_order_release); }

  // Anyone.
  // Refuses records from the next block on, without counting them: its thread is to take another ring.
  void retire(bool it = true) noexcept { retired_.store(it, std::memory_order_relaxed); }
  bool retired() const noexcept { return retired_.load(std::memory_order_relaxed); }
  std::size_t capacity_bytes() const noexcept { return capacity_; }
  std::uint64_t records() const noexcept { return header_.positions.records.load(std::memory_order_relaxed); }
  const DropCounts& drops() const noexcept { return header_.drops; }
  const RingHeader& header() const noexcept { return header_; }
  // Of records that sites wrote, so many were for a source.
  std::uint64_t lines(unsigned source) const noexcept { return lines_[source].load(std::memory_order_relaxed); }
  // See plain_site.h; 0: its thread's sites neither decide nor write by themselves.
  std::uint32_t plain() const noexcept { return header_.positions.plain.load(std::memory_order_relaxed); }
  void set_plain(std::uint32_t word) noexcept { header_.positions.plain.store(word, std::memory_order_relaxed); }

 private:
  char* reserve_slowly(std::size_t bytes, bool urgent, DropKey key) noexcept;
  char* drop(DropKey key, DropReason reason) noexcept;
  std::uint64_t room_end(bool urgent) const noexcept;
  char* place(std::size_t bytes, std::uint64_t end) noexcept;
  void claim(std::size_t bytes) noexcept;
  void advance(std::size_t bytes) noexcept;
  bool announce(std::uint64_t end) noexcept;
  bool announce_gap(std::uint64_t end) noexcept;
  bool announce_name(std::uint64_t end) noexcept;
  void set_name(std::string_view name) noexcept;
  bool gap_open() const noexcept { return header_.drops.total() != announced_total_; }

  // Constant after construction.
  RingHeader& header_;
  char* const data_;
  const std::uint32_t mask_;
  const std::uint64_t capacity_, block_, kept_for_urgent_;
  const bool overwrites_;

  // The producer's own. The front, while it is not lent.
  RingFront rest_;
  RingFront* front_ = &rest_;
  // The room's end as last seen; limits are the nearer of it and the block's end, 0 sends every reserve() the slow way.
  std::uint64_t limit_urgent_ = 0;
  std::uint64_t room_ = 0, room_urgent_ = 0;
  std::uint64_t claimed_ = 0;
  std::uint64_t entered_ = ~std::uint64_t{0};  // the block that the last record begins in
  bool name_open_ = false;
  std::uint64_t announced_total_ = 0;
  std::uint64_t announced_[DropCounts::kSlots] = {};
  char name_[kThreadNameBytes] = {};

  std::array<std::atomic<std::uint64_t>, kSourcesMax> lines_{};  // read by anybody

  // Consumer to producer.
  alignas(64) std::atomic<std::uint64_t> read_{0};
  // Anyone to producer.
  std::atomic<bool> retired_{false};
};

}  // namespace telltale::diag
