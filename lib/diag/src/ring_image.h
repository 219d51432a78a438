// SPDX-License-Identifier: Apache-2.0
#pragma once
// RingImage: a ring's bytes, from wherever they come, as records in order. Trusts none of them.
//
// The walk begins at the oldest block entry that is still good and goes from record to record. One that cannot
// be is damage: the walk goes on at the next block's entry, so a damaged byte costs at most what is left of its
// block. Records behind it are checked against the block table, which also finds a size that is wrong but
// plausible. Stamps never go back in a ring, so records that are out of order are left out too.
//
//   bytes of a ring that            what tells the oldest good byte
//   nobody writes any more          `claimed` in its header
//   is being written, read twice    `claimed` as the second look found it
//   was copied by somebody          the same header; what its producer overwrote meanwhile has later stamps than
//                                   what follows it, and is left out
//
// **Thread safety:** thread-compatible. Views live as long as the image.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include <telltale/diag/record.h>

#include "record_log.h"
#include "ring.h"

namespace telltale::diag {

// The bytes, aligned as the headers in them want it.
class AlignedBytes {
 public:
  explicit AlignedBytes(std::size_t size);
  char* data() noexcept { return at_.get(); }
  const char* data() const noexcept { return at_.get(); }
  std::size_t size() const noexcept { return size_; }

 private:
  struct Free {
    void operator()(char* at) const noexcept { ::operator delete[](at, std::align_val_t{64}); }
  };
  std::unique_ptr<char[], Free> at_;
  std::size_t size_;
};

class RingImage {
 public:
  struct Entry {
    std::uint64_t ticks;
    const char* record;
    std::uint32_t bytes;   // readable behind `record`
    std::uint32_t thread;  // of thread_name()
    bool gap;              // a gap record: `connection` times RingGap behind its header
  };

  // Bytes that a header needs, to know how many the whole ring has; nothing: this is no ring.
  static constexpr std::size_t kProbeBytes = 64;
  static std::optional<std::size_t> size_of(std::string_view first_bytes) noexcept;

  // `bytes`: header and data. `claimed_later`: that of the header at a second look, after the copy.
  // Errors: what is wrong with the header.
  static tl::expected<RingImage, std::string> read(AlignedBytes bytes, std::optional<std::uint64_t> claimed_later = {});
  static std::uint64_t claimed_in(std::string_view header) noexcept;  // REQUIRES: kProbeBytes * 2 of it

  const std::vector<Entry>& entries() const noexcept { return entries_; }
  std::string_view thread_name(std::uint32_t number) const noexcept { return names_[number]; }
  LogId run() const noexcept;
  RingUse use() const noexcept { return header().about.use; }
  std::uint64_t records() const noexcept { return header().positions.records.load(std::memory_order_relaxed); }
  const DropCounts& drops() const noexcept { return header().drops; }
  std::size_t damaged() const noexcept { return damaged_; }          // places
  std::size_t overwritten() const noexcept { return overwritten_; }  // records that were, while somebody copied

 private:
  explicit RingImage(AlignedBytes bytes) : bytes_(std::move(bytes)) {}
  const RingHeader& header() const noexcept { return *reinterpret_cast<const RingHeader*>(bytes_.data()); }
  std::optional<std::string> check() const;
  std::vector<std::uint64_t> block_starts(std::uint64_t oldest, std::uint64_t end) const;
  void walk(std::uint64_t oldest, std::uint64_t end);
  void add(std::uint64_t position, const RecordHeader& record, std::uint32_t readable);
  void put_in_order();
  void leave_out_later_than(std::uint64_t latest);
  std::uint32_t name(std::string_view text);
  void take_owners();

  struct Owner {
    std::uint64_t from;
    std::string name;
  };
  AlignedBytes bytes_;
  std::vector<Entry> entries_;
  std::vector<std::string> names_{"?"};
  std::vector<Owner> owners_;  // by `from`
  std::size_t next_owner_ = 0;
  std::uint32_t thread_ = 0;
  std::size_t damaged_ = 0, overwritten_ = 0;
};

}  // namespace telltale::diag
