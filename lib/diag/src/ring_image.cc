// SPDX-License-Identifier: Apache-2.0
// See ring_image.h; tested in ring_image_test.cc.
#include "ring_image.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>

#include <fmt/format.h>

namespace telltale::diag {

constexpr std::size_t kClaimedAt = offsetof(RingHeader, positions) + offsetof(RingPositions, claimed);
static_assert(kClaimedAt + 8 <= 2 * RingImage::kProbeBytes);

namespace {
constexpr std::uint64_t kCapacityMost = 16 * 1024 * 1024;

std::string_view text_of(const char* at, std::size_t most) noexcept { return {at, ::strnlen(at, most)}; }
}  // namespace

AlignedBytes::AlignedBytes(std::size_t size) : at_(new (std::align_val_t{64}) char[size]()), size_(size) {}

std::optional<std::size_t> RingImage::size_of(std::string_view first) noexcept {
  struct {
    char magic[8];
    std::uint32_t header_bytes, block_bytes;
    std::uint64_t capacity_bytes;
  } head;
  if (first.size() < sizeof head) return {};
  std::memcpy(&head, first.data(), sizeof head);
  if (std::memcmp(head.magic, RingHeader::kMagic, sizeof head.magic) != 0) return {};
  const std::uint64_t capacity = head.capacity_bytes;
  if (!std::has_single_bit(capacity) || capacity < 512 || capacity > kCapacityMost) return {};
  if (head.block_bytes != RingHeader::block_bytes_of(capacity) || head.header_bytes != RingHeader::bytes_of(capacity)) return {};
  return head.header_bytes + static_cast<std::size_t>(capacity);
}

std::uint64_t RingImage::claimed_in(std::string_view header) noexcept {
  std::uint64_t claimed;
  std::memcpy(&claimed, header.data() + kClaimedAt, sizeof claimed);
  return claimed;
}

LogId RingImage::run() const noexcept { return {{header().about.run[0], header().about.run[1]}}; }

std::optional<std::string> RingImage::check() const {
  auto size = size_of({bytes_.data(), bytes_.size()});
  if (!size) return "it does not begin as a ring does";
  if (*size != bytes_.size()) return fmt::format("it has {} bytes, expected {}", bytes_.size(), *size);
  if (header().byte_order != kRingByteOrder) return "it was written on a machine of another byte order";
  return {};
}

tl::expected<RingImage, std::string> RingImage::read(AlignedBytes bytes, std::optional<std::uint64_t> claimed_later) {
  RingImage image(std::move(bytes));
  if (auto wrong = image.check()) return tl::unexpected(std::move(*wrong));
  const RingHeader& header = image.header();
  const std::uint64_t end = header.positions.published.load(std::memory_order_relaxed);
  const std::uint64_t claimed =
      std::max({end, header.positions.claimed.load(std::memory_order_relaxed), claimed_later.value_or(0)});
  // Positions only grow, by at most a few gigabytes a second: beyond this they are damage.
  if (end % 8 != 0 || claimed > std::uint64_t{1} << 62) return tl::unexpected<std::string>("its positions cannot be");
  const std::uint64_t oldest = claimed > header.capacity_bytes ? claimed - header.capacity_bytes : 0;
  image.take_owners();
  image.walk(oldest, end);
  image.put_in_order();
  return image;
}

void RingImage::take_owners() {
  for (const RingOwner& owner : header().owners) {
    const std::uint64_t from = owner.from.load(std::memory_order_relaxed);
    if (from == RingOwner::kNobody) continue;
    char name[kThreadNameBytes];
    static_assert(sizeof name == sizeof owner.name);
    std::memcpy(name, owner.name.data(), sizeof name);
    owners_.push_back({from, std::string(text_of(name, sizeof name))});
  }
  std::stable_sort(owners_.begin(), owners_.end(), [](const Owner& a, const Owner& b) { return a.from < b.from; });
}

std::uint32_t RingImage::name(std::string_view text) {
  if (names_.back() != text) names_.emplace_back(text);
  return static_cast<std::uint32_t>(names_.size() - 1);
}

std::vector<std::uint64_t> RingImage::block_starts(std::uint64_t oldest, std::uint64_t end) const {
  const RingHeader& header = this->header();
  std::vector<std::uint64_t> starts;
  for (std::uint64_t i = 0; i < header.blocks_count(); ++i) {
    const std::uint64_t start = header.blocks()[i].load(std::memory_order_relaxed);
    if (start < oldest || start >= end || start % 8 != 0) continue;
    if (start / header.block_bytes % header.blocks_count() == i) starts.push_back(start);
  }
  std::sort(starts.begin(), starts.end());
  return starts;
}

void RingImage::walk(std::uint64_t oldest, std::uint64_t end) {
  const RingHeader& header = this->header();
  const std::uint64_t capacity = header.capacity_bytes;
  const char* data = bytes_.data() + header.header_bytes;
  const std::vector<std::uint64_t> starts = block_starts(oldest, end);
  if (starts.empty()) {
    // What a producer has left of a copy that was overtaken may be less than a record.
    const bool overtaken = oldest > 0 && end - std::min(oldest, end) <= capacity / 2;
    if (end > 0 && !overtaken) ++damaged_;
    return;
  }
  auto next_start = starts.begin();
  std::uint64_t position = *next_start;
  while (position < end) {
    while (next_start != starts.end() && *next_start <= position) ++next_start;
    const std::uint64_t offset = position & (capacity - 1);
    const std::uint64_t readable = std::min(capacity - offset, end - position);
    std::uint32_t head[2] = {};
    if (readable >= sizeof head) std::memcpy(head, data + offset, sizeof head);
    const bool pad = head[1] == kPadSite;
    const std::uint64_t size = head[0];
    bool good = size >= (pad ? sizeof head : sizeof(RecordHeader)) && size % 8 == 0 && size <= readable;
    // Where the table says that a record begins, none may have reached across.
    if (good && next_start != starts.end() && position + size > *next_start) good = false;
    if (!good) {
      ++damaged_;
      // The one before it may have led here by a wrong size, or be half overwritten.
      if (!entries_.empty() && entries_.back().record + entries_.back().bytes == data + offset) entries_.pop_back();
      if (next_start == starts.end()) return;
      position = *next_start;
      continue;
    }
    if (!pad) {
      RecordHeader record;
      std::memcpy(&record, data + offset, sizeof record);
      add(position, record, static_cast<std::uint32_t>(size));
    }
    position += size;
  }
}

// Where the copy met the producer a record may be half of this round and half of that: that is the one before the
// first overwritten one or one behind the last. So the former, and those of the block behind, go too.
void RingImage::leave_out_later_than(std::uint64_t latest) {
  const std::size_t before = entries_.size();
  auto block = [this](const Entry& entry) {
    return static_cast<std::size_t>(entry.record - bytes_.data() - header().header_bytes) / header().block_bytes;
  };
  std::vector<Entry> kept;
  kept.reserve(before);
  constexpr std::size_t kNone = ~std::size_t{0};
  std::size_t met = kNone;
  bool was_later = false;
  for (const Entry& entry : entries_) {
    const bool later = entry.ticks > latest;
    if (!later && was_later) met = block(entry);
    if (later && !was_later && !kept.empty()) kept.pop_back();
    if (!later && met != block(entry)) {
      met = kNone;
      kept.push_back(entry);
    }
    was_later = later;
  }
  entries_ = std::move(kept);
  overwritten_ += before - entries_.size();
}

// Stamps of a ring never go back. Those later than the last ones published were written over the oldest while
// somebody copied. Of others that are out of order, which only damage can make, the fewest are left out: what
// stays is a longest run that does not fall.
void RingImage::put_in_order() {
  constexpr std::size_t kLast = 8;  // one of them may be damaged
  std::uint64_t latest = 0;
  for (std::size_t i = entries_.size() - std::min(entries_.size(), kLast); i < entries_.size(); ++i) {
    latest = std::max(latest, entries_[i].ticks);
  }
  leave_out_later_than(latest);
  auto earlier = [](const Entry& a, const Entry& b) { return a.ticks < b.ticks; };
  if (std::is_sorted(entries_.begin(), entries_.end(), earlier)) return;
  constexpr std::size_t kNone = ~std::size_t{0};
  std::vector<std::size_t> ends;  // of the run of that length, less one, that ends lowest
  std::vector<std::size_t> before(entries_.size(), kNone);
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    auto longer = std::upper_bound(ends.begin(), ends.end(), entries_[i].ticks,
                                   [this](std::uint64_t ticks, std::size_t end) { return ticks < entries_[end].ticks; });
    if (longer != ends.begin()) before[i] = *(longer - 1);
    if (longer == ends.end()) {
      ends.push_back(i);
    } else {
      *longer = i;
    }
  }
  std::vector<Entry> kept(ends.size());
  std::size_t at = ends.back();
  for (std::size_t n = kept.size(); n-- > 0; at = before[at]) kept[n] = entries_[at];
  damaged_ += entries_.size() - kept.size();
  entries_ = std::move(kept);
}

void RingImage::add(std::uint64_t position, const RecordHeader& record, std::uint32_t size) {
  for (; next_owner_ < owners_.size() && owners_[next_owner_].from <= position; ++next_owner_) {
    thread_ = name(owners_[next_owner_].name);
  }
  const char* at = bytes_.data() + header().header_bytes + (position & (header().capacity_bytes - 1));
  if (record.site == kNameSite) {
    if (size >= sizeof record + kThreadNameBytes) thread_ = name(text_of(at + sizeof record, kThreadNameBytes));
    return;
  }
  if (record.site == kClientSite) return;
  if (record.site == kGapSite && record.connection > (size - sizeof record) / sizeof(RingGap)) {
    ++damaged_;
    return;
  }
  entries_.push_back({record.ticks, at, size, thread_, record.site == kGapSite});
}

}  // namespace telltale::diag
