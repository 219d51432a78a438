// SPDX-License-Identifier: Apache-2.0
// The slow side of the ring: refreshing limits, wrapping, drops and their announcement. See ring.h;
// tested in ring_test.cc, also against a plain queue on random input.
#include "ring.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "ticks.h"

namespace telltale::diag {

constinit RingPositions no_positions;

namespace {
constexpr std::size_t kNameRecordBytes = sizeof(RecordHeader) + kThreadNameBytes;

char* put_header(char* at, std::uint32_t site, std::size_t bytes, std::uint64_t entries) noexcept {
  RecordHeader h{};
  h.size_bytes = static_cast<std::uint32_t>(bytes);
  h.site = site;
  h.ticks = ticks_now();
  h.connection = entries;
  h.level = Level::kWarning;
  std::memcpy(at, &h, sizeof h);
  return at + sizeof h;
}
}  // namespace

Ring::Ring(char* memory, std::size_t capacity_bytes, const RingAbout& about) noexcept
    : header_(*new (memory) RingHeader),
      data_(memory + RingHeader::bytes_of(capacity_bytes)),
      mask_(static_cast<std::uint32_t>(capacity_bytes - 1)),
      capacity_(capacity_bytes),
      block_(RingHeader::block_bytes_of(capacity_bytes)),
      kept_for_urgent_(about.use == RingUse::kRecorder ? 0 : capacity_bytes / 8),
      overwrites_(about.use == RingUse::kRecorder) {
  rest_.positions = &header_.positions;
  rest_.data = data_;
  rest_.mask = mask_;
  header_.header_bytes = static_cast<std::uint32_t>(RingHeader::bytes_of(capacity_bytes));
  header_.block_bytes = static_cast<std::uint32_t>(block_);
  header_.capacity_bytes = capacity_bytes;
  header_.about = about;
  header_.byte_order = kRingByteOrder;
  for (std::uint64_t i = 0; i < header_.blocks_count(); ++i) {
    new (&header_.blocks()[i]) std::atomic<std::uint64_t>(RingOwner::kNobody);
  }
  if (overwrites_) front_->look_at = ~std::uint64_t{0};
  std::atomic_signal_fence(std::memory_order_release);
  std::memcpy(header_.magic, RingHeader::kMagic, sizeof header_.magic);
}

std::uint64_t Ring::room_end(bool urgent) const noexcept {
  if (overwrites_) return ~std::uint64_t{0} / 2;
  std::uint64_t all = read_.load(std::memory_order_acquire) + capacity_;
  return urgent ? all : all - kept_for_urgent_;
}

// A record of at most `bytes` begins at write: its block shows where, and its bytes are claimed up to a block's
// end, so that those behind it in the same block need neither.
void Ring::claim(std::size_t bytes) noexcept {
  const std::uint64_t block = front_->write / block_, block_end = (block + 1) * block_;
  if (block != entered_) {
    entered_ = block;
    header_.blocks()[block % header_.blocks_count()].store(front_->write, std::memory_order_relaxed);
  }
  if (const std::uint64_t end = front_->write + bytes; end > claimed_) {
    claimed_ = (end + block_ - 1) / block_ * block_;
    header_.positions.claimed.store(claimed_, std::memory_order_relaxed);
#if !defined(__SANITIZE_THREAD__)
    std::atomic_thread_fence(std::memory_order_release);  // no instruction on x86
#endif
  }
  front_->limit = std::min(room_, block_end);
  limit_urgent_ = std::min(room_urgent_, block_end);
}

// A pad is published at once, even if the record behind it does not fit: else a record that needs more
// than the rest of the buffer would find the same rest for ever.
char* Ring::place(std::size_t bytes, std::uint64_t end) noexcept {
  std::uint64_t offset = front_->write & mask_;
  if (offset + bytes > capacity_) {
    std::uint64_t pad = capacity_ - offset;
    if (front_->write + pad > end) return nullptr;
    claim(pad);
    std::uint32_t words[2] = {static_cast<std::uint32_t>(pad), kPadSite};
    std::memcpy(data_ + offset, words, sizeof words);
    advance(pad);
    offset = 0;
  }
  if (front_->write + bytes > end) return nullptr;
  claim(bytes);
  return data_ + offset;
}

void Ring::advance(std::size_t bytes) noexcept {
  front_->write += bytes;
  header_.positions.published.store(front_->write, std::memory_order_release);
}

char* Ring::drop(DropKey key, DropReason reason) noexcept {
  key.reason = reason;
  header_.drops.add(key);
  front_->limit = limit_urgent_ = room_ = room_urgent_ = 0;
  return nullptr;
}

char* Ring::reserve_slowly(std::size_t bytes, bool urgent, DropKey key) noexcept {
  if (front_->open) return drop(key, DropReason::kNested);
  if (retired()) return nullptr;
  if (front_->write + bytes <= (urgent ? room_urgent_ : room_) && (front_->write & mask_) + bytes <= capacity_) [[likely]] {
    claim(bytes);  // only the block was at its end
    front_->open = true;
    return data_ + (front_->write & mask_);
  }
  std::uint64_t most = room_end(urgent);
  if (bytes > (urgent ? capacity_ : capacity_ - kept_for_urgent_)) return drop(key, DropReason::kTooLarge);
  if (gap_open() && !urgent && most + kept_for_urgent_ - front_->write < capacity_ / 2) return drop(key, DropReason::kFull);
  // A warning goes even where the word about a loss before it does not fit beside it.
  bool told = announce(most - bytes);
  if (!told && !urgent) return drop(key, DropReason::kFull);
  room_urgent_ = told ? (urgent ? most : most + kept_for_urgent_) : 0;
  room_ = told ? room_urgent_ - kept_for_urgent_ : 0;
  char* at = place(bytes, most);
  if (at == nullptr) return drop(key, DropReason::kFull);
  front_->open = true;
  return at;
}

bool Ring::announce(std::uint64_t end) noexcept {
  return (!gap_open() || announce_gap(end)) && (!name_open_ || announce_name(end));
}

bool Ring::announce_gap(std::uint64_t end) noexcept {
  RingGap gaps[DropCounts::kSlots];
  std::size_t n = 0;
  for (std::size_t i = 0; i < DropCounts::kSlots; ++i) {
    if (std::uint64_t count = header_.drops.count(i); count != announced_[i]) gaps[n++] = {i, count, count - announced_[i]};
  }
  std::size_t bytes = sizeof(RecordHeader) + n * sizeof(RingGap);
  char* at = place(bytes, end);
  if (at == nullptr) return false;
  std::memcpy(put_header(at, kGapSite, bytes, n), gaps, n * sizeof(RingGap));
  advance(bytes);
  for (std::size_t i = 0; i < n; ++i) announced_[gaps[i].slot] = gaps[i].count;
  announced_total_ = header_.drops.total();
  return true;
}

bool Ring::announce_name(std::uint64_t end) noexcept {
  char* at = place(kNameRecordBytes, end);
  if (at == nullptr) return false;
  const auto kernel_id = static_cast<std::uint64_t>(::gettid());
  std::memcpy(put_header(at, kNameSite, kNameRecordBytes, kernel_id), name_, kThreadNameBytes);
  advance(kNameRecordBytes);
  name_open_ = false;
  return true;
}

bool Ring::tell_client(std::uint64_t connection, const std::array<std::uint8_t, 16>& address) noexcept {
  if (front_->open || retired() || gap_open()) return false;
  constexpr std::size_t kBytes = sizeof(RecordHeader) + sizeof address;
  char* at = place(kBytes, room_end(false));
  if (at == nullptr) return false;
  std::memcpy(put_header(at, kClientSite, kBytes, connection), address.data(), sizeof address);
  advance(kBytes);
  return true;
}

void Ring::set_name(std::string_view name) noexcept {
  std::memset(name_, 0, sizeof name_);
  std::memcpy(name_, name.data(), std::min(name.size(), kThreadNameBytes - 1));
  name_open_ = true;
  front_->limit = limit_urgent_ = room_ = room_urgent_ = 0;
  RingOwner& owner = header_.owners[header_.owners_count.load(std::memory_order_relaxed) % kRingOwners];
  owner.from.store(RingOwner::kNobody, std::memory_order_release);
  for (std::size_t i = 0; i < owner.name.size(); ++i) {
    std::uint64_t word;
    std::memcpy(&word, name_ + i * sizeof word, sizeof word);
    owner.name[i].store(word, std::memory_order_release);
  }
  owner.from.store(front_->write, std::memory_order_release);
  header_.owners_count.store(header_.owners_count.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

void Ring::rename(std::string_view name) noexcept {
  set_name(name);
  if (!front_->open) announce(room_end(true));
}

bool Ring::take_over(std::string_view name) noexcept {
  front_->open = false;
  if (gap_open() && !announce_gap(room_end(true))) return false;
  set_name(name);
  return announce_name(room_end(true));
}

void Ring::lend(RingFront& place) noexcept {
  place = rest_;
  front_ = &place;
}

void Ring::take_back() noexcept {
  rest_ = *front_;
  *front_ = RingFront{.positions = &no_positions};
  front_ = &rest_;
}

void Ring::leave() noexcept {
  front_->open = false;
  if (gap_open()) announce_gap(room_end(true));
}

// Looks at read_ only every eighth of the ring once half full, so the consumer's cache line is left alone.
bool Ring::crossed_half() noexcept {
  std::uint64_t read = read_.load(std::memory_order_relaxed);
  if (front_->write - read < capacity_ / 2) {
    front_->look_at = read + capacity_ / 2;
    return false;
  }
  front_->look_at = front_->write + capacity_ / 8;
  return true;
}

}  // namespace telltale::diag
