// SPDX-License-Identifier: Apache-2.0
// A ring read by somebody who has only its bytes: against a list of all that was written, at every position, with
// damage, and while its producer goes on.
#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <new>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "lib/diag/src/ring.h"
#include "lib/diag/src/ring_image.h"
#include "rounds.h"

using namespace telltale::diag;

namespace {

constexpr std::size_t kHeader = sizeof(RecordHeader);

// A ring and the size of every record ever written into it. Record n has site n + 1, stamp n + 1, and its bytes
// are a pattern of n.
struct Written {
  Written(std::size_t capacity, RingUse use) : bytes(RingHeader::bytes_of(capacity) + capacity) {
    RingAbout about;
    about.use = use;
    about.run[0] = 7;
    ring.reset(new Ring(bytes.data(), capacity, about));
  }
  bool write(std::size_t size, std::size_t reserved = 0) {
    char* at = ring->reserve(std::max(size, reserved), {1, Level::kDebug});
    if (at == nullptr) return false;
    RecordHeader h{};
    h.size_bytes = static_cast<std::uint32_t>(size);
    h.site = static_cast<std::uint32_t>(sizes.size() + 1);
    h.ticks = ticks + sizes.size();
    std::memcpy(at, &h, sizeof h);
    std::memset(at + kHeader, static_cast<int>(sizes.size() & 0xFF), size - kHeader);
    ring->publish(size);
    sizes.push_back(size);
    return true;
  }
  AlignedBytes copy() const {
    AlignedBytes to(bytes.size());
    std::memcpy(to.data(), bytes.data(), bytes.size());
    return to;
  }
  RingImage image() const {
    auto read = RingImage::read(copy());
    REQUIRE(read);
    return std::move(*read);
  }

  static constexpr std::uint64_t ticks = std::uint64_t{1} << 60;  // behind those of names and gaps, which are real
  AlignedBytes bytes;
  std::unique_ptr<Ring> ring;
  std::vector<std::size_t> sizes;
};

// The entries' numbers, names and gaps left out; REQUIREs that each is whole.
std::vector<std::uint32_t> numbers(const RingImage& image) {
  std::vector<std::uint32_t> all;
  for (const RingImage::Entry& entry : image.entries()) {
    if (entry.gap) continue;
    RecordHeader h;
    std::memcpy(&h, entry.record, sizeof h);
    const std::uint32_t n = h.site - 1;
    for (std::size_t i = kHeader; i < h.size_bytes; ++i) {
      if (static_cast<unsigned char>(entry.record[i]) != (n & 0xFF)) FAIL("record " << n << " is not whole");
    }
    all.push_back(n);
  }
  return all;
}

// The last ones written, without a gap, and as many as a ring must have.
void check_last(const Written& written, const std::vector<std::uint32_t>& seen, std::size_t capacity) {
  std::size_t held = 0, first = written.sizes.size();
  // What one block's claim, a pad and a reservation of 256 bytes more may cost.
  const std::size_t least = capacity - capacity / 8 * 2 - 2 * 256;
  while (first > 0 && held + written.sizes[first - 1] <= least) held += written.sizes[--first];
  REQUIRE(seen.size() >= written.sizes.size() - first);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (seen[i] != written.sizes.size() - seen.size() + i) FAIL("gap before record " << seen[i]);
  }
}

}  // namespace

TEST_CASE("RingImage: has the newest records without a gap, whatever was written (random, both uses)", "[diag][recorder]") {
  for (unsigned seed = 1; seed <= unsigned{rounds(60)}; ++seed) {
    std::mt19937 random(seed);
    const std::size_t capacity = std::size_t{2048} << random() % 4;
    const RingUse use = seed % 2 == 0 ? RingUse::kOutput : RingUse::kRecorder;
    Written written(capacity, use);
    std::uint64_t read = 0;
    for (int i = 0; i < 600; ++i) {
      const std::size_t size = kHeader + random() % 20 * 8;
      if (use == RingUse::kOutput) written.ring->consumed(read = written.ring->published());
      REQUIRE(written.write(size, size + random() % 2 * (random() % 8 * 8)));
      const RingImage image = written.image();
      REQUIRE(image.damaged() == 0);
      REQUIRE(image.overwritten() == 0);
      check_last(written, numbers(image), capacity);
    }
  }
}

TEST_CASE("RingImage: an output ring nobody drains keeps its oldest, and the image shows all of it", "[diag][recorder]") {
  Written written(4096, RingUse::kOutput);
  while (written.write(64)) {
  }
  const RingImage image = written.image();
  CHECK(numbers(image).size() == written.sizes.size());
  CHECK(image.damaged() == 0);
}

TEST_CASE("RingImage: a recorder's ring never refuses, but what is larger than it", "[diag][recorder]") {
  Written written(4096, RingUse::kRecorder);
  for (int i = 0; i < 10'000; ++i) REQUIRE(written.write(kHeader + static_cast<std::size_t>(i) % 60 * 8));
  CHECK(written.ring->drops().total() == 0);
  CHECK_FALSE(written.write(4096 + 8));
  CHECK(written.ring->drops().total() == 1);
  REQUIRE(written.write(4096));
  CHECK(numbers(written.image()).back() == written.sizes.size() - 1);
}

TEST_CASE("RingImage: knows whose a record is, also where the word of it was overwritten", "[diag][recorder]") {
  Written written(4096, RingUse::kRecorder);
  REQUIRE(written.ring->take_over("first"));
  for (int i = 0; i < 500; ++i) REQUIRE(written.write(64));
  {
    const RingImage image = written.image();
    for (const auto& entry : image.entries()) REQUIRE(image.thread_name(entry.thread) == "first");
  }
  written.ring->leave();
  REQUIRE(written.ring->take_over("second"));
  for (int i = 0; i < 10; ++i) REQUIRE(written.write(64));
  const RingImage image = written.image();
  std::size_t second = 0;
  for (const auto& entry : image.entries()) {
    const std::string_view name = image.thread_name(entry.thread);
    REQUIRE((name == "first" || name == "second"));
    REQUIRE((name == "second" || second == 0));
    second += name == "second";
  }
  CHECK(second == 10);
}

TEST_CASE("RingImage: a wrong size costs what is left of its block, no more", "[diag][recorder]") {
  Written written(16384, RingUse::kRecorder);
  for (int i = 0; i < 700; ++i) REQUIRE(written.write(64));
  const std::vector<std::uint32_t> whole = numbers(written.image());
  for (std::uint32_t wrong : {0u, 7u, 8u, 40u, 48u, 72u, 2048u, 0xFFFFFFF8u}) {
    for (std::size_t victim = 0; victim + 1 < whole.size(); victim += 13) {
      AlignedBytes damaged = written.copy();
      const RingHeader& header = written.ring->header();
      const std::uint64_t position = std::uint64_t{64} * whole[victim];
      std::memcpy(damaged.data() + header.header_bytes + (position & 16383), &wrong, sizeof wrong);
      auto image = RingImage::read(std::move(damaged));
      REQUIRE(image);
      std::vector<std::uint32_t> left;
      for (const auto& entry : image->entries()) {
        RecordHeader h;
        std::memcpy(&h, entry.record, sizeof h);
        left.push_back(h.site - 1);
      }
      for (std::uint32_t n : whole) {
        // 2,048-byte blocks of 64-byte records: those of other blocks are there, and those before the victim's
        // neighbour, which might have led to it wrongly.
        const bool same_block = n / 32 == whole[victim] / 32 && n + 1 >= whole[victim];
        if (!same_block && std::find(left.begin(), left.end(), n) == left.end()) {
          FAIL("size " << wrong << " of record " << whole[victim] << " cost record " << n);
        }
      }
    }
  }
}

TEST_CASE("RingImage: random damage is survived, and never shows a byte that is not the ring's", "[diag][recorder]") {
  Written written(4096, RingUse::kRecorder);
  for (int i = 0; i < 300; ++i) REQUIRE(written.write(kHeader + static_cast<std::size_t>(i) % 12 * 8));
  std::mt19937 random(5);
  for (int round = 0; round < rounds(20'000); ++round) {
    AlignedBytes damaged = written.copy();
    for (unsigned n = random() % 16 + 1; n > 0; --n) damaged.data()[random() % damaged.size()] = static_cast<char>(random());
    const char* begin = damaged.data();
    const char* end = begin + damaged.size();
    auto image = RingImage::read(std::move(damaged), random() % 4 == 0 ? std::optional<std::uint64_t>(random() % 20'000) : std::nullopt);
    if (!image) continue;
    for (const auto& entry : image->entries()) {
      if (entry.record < begin || entry.record + entry.bytes > end || entry.bytes < kHeader) FAIL("an entry of other bytes");
      if (image->thread_name(entry.thread).size() > kThreadNameBytes) FAIL(image->thread_name(entry.thread));
    }
  }
}

TEST_CASE("RingImage: bytes that are cut or of something else are refused with a sentence", "[diag][recorder]") {
  Written written(2048, RingUse::kOutput);
  REQUIRE(written.write(64));
  for (std::size_t size : {std::size_t{0}, std::size_t{63}, std::size_t{200}, written.bytes.size() - 1}) {
    AlignedBytes cut(size);
    std::memcpy(cut.data(), written.bytes.data(), size);
    auto image = RingImage::read(std::move(cut));
    REQUIRE_FALSE(image);
    CHECK_FALSE(image.error().empty());
  }
  AlignedBytes zeros(8192);
  CHECK_FALSE(RingImage::read(std::move(zeros)));
}

TEST_CASE("RingImage: a copy that its producer has overtaken is not damaged, wherever the producer is by then", "[diag][recorder]") {
  Written written(4096, RingUse::kRecorder);
  for (int i = 0; i < 300; ++i) REQUIRE(written.write(kHeader + i % 9 * 8));
  const std::uint64_t end = written.ring->published();
  for (std::uint64_t claimed = end; claimed <= end + 2 * 4096; claimed += 8) {
    auto image = RingImage::read(written.copy(), claimed);
    REQUIRE(image);
    REQUIRE(image->damaged() == 0);
  }
}

#if !defined(__SANITIZE_THREAD__)  // which rightly calls a copy of what is being written a race
TEST_CASE("RingImage: while its producer overwrites, no torn record is shown and none is missing", "[diag][recorder]") {
  for (std::size_t capacity : {std::size_t{4096}, std::size_t{65536}}) {
    Written written(capacity, RingUse::kRecorder);
    std::atomic<bool> ends{false};
    std::thread producer([&] {
      for (std::uint32_t i = 0; !ends.load(std::memory_order_relaxed); ++i) {
        written.write(kHeader + i % 9 * 8, kHeader + i % 9 * 8 + i % 3 * 64);
        if (written.sizes.size() == 4'000'000) break;
      }
    });
    std::size_t shown = 0, looks = 0;
    while (looks < 2000 || shown == 0) {
      AlignedBytes copy(written.bytes.size());
      const std::size_t header = sizeof(RingHeader);
      std::memcpy(copy.data(), written.bytes.data(), header);
      std::atomic_thread_fence(std::memory_order_acquire);
      std::memcpy(copy.data() + header, written.bytes.data() + header, copy.size() - header);
      std::atomic_thread_fence(std::memory_order_acquire);
      auto image = RingImage::read(std::move(copy), written.ring->header().positions.claimed.load(std::memory_order_relaxed));
      REQUIRE(image);
      REQUIRE(image->damaged() == 0);
      std::vector<std::uint32_t> seen = numbers(*image);
      for (std::size_t i = 1; i < seen.size(); ++i) {
        if (seen[i] != seen[i - 1] + 1) FAIL("gap between " << seen[i - 1] << " and " << seen[i]);
      }
      shown += seen.size();
      ++looks;
    }
    ends = true;
    producer.join();
  }
}
#endif
