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
// room's end and the block's, so nothing is added to it.
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

#include "ring_drops.h"
#include "ring_header.h"

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
    bool urgent = key.level >= Level::kWarning;
    std::uint64_t offset = write_ & mask_;
    if (open_ || write_ + bytes > (urgent ? limit_urgent_ : limit_)) [[unlikely]] {
      return reserve_slowly(bytes, urgent, key);
    }
    open_ = true;
    return data_ + offset;
  }
  // The record just reserved has `bytes` bytes, a multiple of 8. True: the ring crossed half full, the
  // consumer should be woken.
  bool publish(std::size_t bytes) noexcept {
    open_ = false;
    write_ += bytes;
    header_.records.store(header_.records.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    header_.published.store(write_, std::memory_order_release);
    return write_ >= look_at_ && crossed_half();
  }
  // Gives the record just reserved up: nobody sees it, and its room is free again.
  void cancel() noexcept { open_ = false; }
  char* open_record() const noexcept { return data_ + (write_ & mask_); }  // the one reserved last
  bool is_open() const noexcept { return open_; }
  // Its thread has a record open in another ring: until let_go(), one here is nested and is lost.
  void hold() noexcept { open_ = true; }
  void let_go() noexcept { open_ = false; }
  // The connection is of the client with this address. False: not told, for want of room.
  bool tell_client(std::uint64_t connection, const std::array<std::uint8_t, 16>& address) noexcept;
  void count_nested(DropKey key) noexcept { drop(key, DropReason::kNested); }

  void rename(std::string_view name) noexcept;
  // A new thread takes the ring over, with records of the former one perhaps still queued. False: there
  // is no room yet to say so.
  bool take_over(std::string_view name) noexcept;
  // The thread ends: announces a loss if there is room.
  void leave() noexcept;

  // Consumer.
  std::uint64_t published() const noexcept { return header_.published.load(std::memory_order_acquire); }
  const char* at(std::uint64_t position) const noexcept { return data_ + (position & mask_); }
  void consumed(std::uint64_t position) noexcept { read_.store(position, std::memory_order_release); }

  // Anyone.
  // Refuses records from the next block on, without counting them: its thread is to take another ring.
  void retire(bool it = true) noexcept { retired_.store(it, std::memory_order_relaxed); }
  bool retired() const noexcept { return retired_.load(std::memory_order_relaxed); }
  std::size_t capacity_bytes() const noexcept { return capacity_; }
  std::uint64_t records() const noexcept { return header_.records.load(std::memory_order_relaxed); }
  const DropCounts& drops() const noexcept { return header_.drops; }
  const RingHeader& header() const noexcept { return header_; }

 private:
  char* reserve_slowly(std::size_t bytes, bool urgent, DropKey key) noexcept;
  char* drop(DropKey key, DropReason reason) noexcept;
  bool crossed_half() noexcept;
  std::uint64_t limit(bool urgent) const noexcept;
  char* place(std::size_t bytes, std::uint64_t limit) noexcept;
  void claim(std::size_t bytes) noexcept;
  void advance(std::size_t bytes) noexcept;
  bool announce(std::uint64_t limit) noexcept;
  bool announce_gap(std::uint64_t limit) noexcept;
  bool announce_name(std::uint64_t limit) noexcept;
  void set_name(std::string_view name) noexcept;
  bool gap_open() const noexcept { return header_.drops.total() != announced_total_; }

  // Constant after construction.
  RingHeader& header_;
  char* const data_;
  const std::uint64_t capacity_, mask_, block_, kept_for_urgent_;
  const bool overwrites_;

  // The producer's own. Limits of write_: of room, as last seen, and the nearer of that and the block's end;
  // 0 sends every reserve() the slow way.
  alignas(64) std::uint64_t write_ = 0;
  std::uint64_t limit_ = 0, limit_urgent_ = 0;
  std::uint64_t look_at_ = 0;  // where to look again whether the ring is half full
  std::uint64_t room_ = 0, room_urgent_ = 0;
  std::uint64_t claimed_ = 0;
  std::uint64_t entered_ = ~std::uint64_t{0};  // the block that the last record begins in
  bool open_ = false;
  bool name_open_ = false;
  std::uint64_t announced_total_ = 0;
  std::uint64_t announced_[DropCounts::kSlots] = {};
  char name_[kThreadNameBytes] = {};

  // Consumer to producer.
  alignas(64) std::atomic<std::uint64_t> read_{0};
  // Anyone to producer.
  std::atomic<bool> retired_{false};
};

}  // namespace telltale::diag
