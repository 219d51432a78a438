// SPDX-License-Identifier: Apache-2.0
// The ring alone: producer and consumer driven by hand, then against a plain queue, then by two threads.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <new>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "lib/diag/src/ring.h"
#include "lib/diag/src/ring_reader.h"
#include "rounds.h"

using namespace telltale::diag;

namespace {

constexpr std::size_t kHeader = sizeof(RecordHeader);

// A ring, its memory, and a consumer that tells what it meets: "7" a record with that number,
// "name X", "gap T:N" N new drops under tag T.
struct Bench {
  explicit Bench(std::size_t capacity, RingUse use = RingUse::kOutput)
      : memory(new (std::align_val_t{64}) char[RingHeader::bytes_of(capacity) + capacity]()) {
    RingAbout about;
    about.use = use;
    ring.reset(new Ring(memory.get(), capacity, about));
    reader.ring = ring.get();
  }

  // A record of `bytes` whose first argument bytes hold `number` and whose rest is a pattern of it.
  bool write(std::uint32_t number, std::size_t bytes = kHeader + 8, Level level = Level::kDebug, std::uint32_t tag = 1) {
    char* at = ring->reserve(bytes, {tag, level});
    if (at == nullptr) return false;
    RecordHeader h{};
    h.size_bytes = static_cast<std::uint32_t>(bytes);
    h.site = number;
    std::memcpy(at, &h, sizeof h);
    std::memset(at + kHeader, static_cast<int>(number & 0xFF), bytes - kHeader);
    woken += ring->publish(bytes);
    return true;
  }

  std::vector<std::string> read(std::size_t most = ~std::size_t{0}) {
    std::vector<std::string> met;
    reader.begin(~std::uint64_t{0}, true);
    RecordHeader h;
    while (met.size() < most) {
      const char* at = reader.peek(h);
      if (at == nullptr) break;
      if (h.site == kNameSite) {
        met.push_back(std::string("name ") + (at + kHeader));
      } else if (h.site == kGapSite) {
        for (std::size_t i = 0; i < h.connection; ++i) {
          RingGap gap;
          std::memcpy(&gap, at + kHeader + i * sizeof gap, sizeof gap);
          std::uint64_t fresh = reader.shown.take_new(gap.slot, gap.count);
          gaps += fresh;
          met.push_back("gap " + std::to_string(ring->drops().key(gap.slot).tag) + ":" + std::to_string(fresh));
        }
      } else {
        for (std::size_t i = kHeader; i < h.size_bytes; ++i) {
          if (static_cast<unsigned char>(at[i]) != (h.site & 0xFF)) FAIL("a record's bytes changed");
        }
        met.push_back(std::to_string(h.site));
      }
      reader.position += h.size_bytes;
    }
    reader.give_back();
    return met;
  }

  struct Aligned {
    void operator()(char* at) const { ::operator delete[](at, std::align_val_t{64}); }
  };
  std::unique_ptr<char[], Aligned> memory;
  std::unique_ptr<Ring> ring;
  RingReader reader;
  int woken = 0;
  std::uint64_t gaps = 0;
};

using Met = std::vector<std::string>;

}  // namespace

TEST_CASE("Ring: records come out whole and in order, whatever offset they start at", "[diag][ring]") {
  for (std::size_t start = kHeader; start < 1024 - 128; start += 8) {
    for (std::size_t bytes : {kHeader, kHeader + 8, kHeader + 56, std::size_t{256}}) {
      Bench b(1024);
      REQUIRE(b.write(1, start));
      REQUIRE(b.read() == Met{"1"});
      for (std::uint32_t i = 2; i < 12; ++i) {
        REQUIRE(b.write(i, bytes));
        REQUIRE(b.read() == Met{std::to_string(i)});
      }
    }
  }
}

TEST_CASE("Ring: a record that does not fit is dropped and counted", "[diag][ring]") {
  Bench b(1024);
  std::uint32_t sent = 0;
  while (b.write(++sent, 64)) {
  }
  CHECK(sent == 1024 * 7 / 8 / 64 + 1);
  CHECK(b.ring->drops().total() == 1);
  CHECK(b.ring->records() == sent - 1);
}

TEST_CASE("Ring: a record of what an empty ring allows fits, one 8 bytes larger never does", "[diag][ring]") {
  for (Level level : {Level::kDebug, Level::kError}) {
    std::size_t most = level == Level::kDebug ? 1024 * 7 / 8 : 1024;
    Bench b(1024);
    CHECK_FALSE(b.write(1, most + 8, level));
    CHECK(b.ring->drops().key(0).packed() != 0);
    CHECK(b.ring->drops().total() == 1);
    CHECK(b.read() == Met{});
    // The word of the loss goes first where both fit, so a fresh ring shows the limit itself.
    Bench fresh(1024);
    CHECK(fresh.write(2, most, level));
    CHECK(fresh.read() == Met{"2"});
  }
}

TEST_CASE("Ring: a record larger than the rest of the buffer is not refused for ever", "[diag][ring]") {
  Bench b(1024);
  REQUIRE(b.write(1, 512));
  b.read();
  // 512 bytes are left before the end; a record of 600 needs a pad of 512 and does not fit beside it.
  CHECK_FALSE(b.write(2, 600));
  b.read();
  CHECK(b.write(3, 600));
  CHECK(b.read() == Met{"gap 1:1", "3"});
}

TEST_CASE("Ring: the last eighth is kept for warnings and above", "[diag][ring]") {
  Bench b(1024);
  while (b.write(1, 64, Level::kNote)) {
  }
  int kept = 0;
  while (b.write(2, 64, Level::kWarning)) ++kept;
  CHECK(kept >= 1);
  Met met = b.read();
  CHECK(std::count(met.begin(), met.end(), "2") == kept);
}

TEST_CASE("Ring: a loss is told where it happened, by tag, and adds up", "[diag][ring]") {
  Bench b(1024);
  std::uint32_t n = 0;
  while (b.write(n, 64, Level::kDebug, 7)) ++n;
  for (int i = 0; i < 4; ++i) CHECK_FALSE(b.write(99, 64, Level::kDebug, 8));
  Met before = b.read();
  CHECK(before.size() == n);
  CHECK(b.write(50));
  Met after = b.read();
  REQUIRE(after.size() == 3);
  CHECK(after[2] == "50");
  CHECK(std::count(after.begin(), after.end(), "gap 7:1") == 1);
  CHECK(std::count(after.begin(), after.end(), "gap 8:4") == 1);
  CHECK(b.gaps == b.ring->drops().total());
}

TEST_CASE("Ring: after a loss, debug lines wait until half the ring is free, warnings do not", "[diag][ring]") {
  Bench b(1024);
  while (b.write(1, 64)) {
  }
  b.read(4);
  CHECK_FALSE(b.write(2, 64));
  CHECK(b.write(3, 64, Level::kWarning));
  b.read(8);
  CHECK(b.write(4, 64));
}

TEST_CASE("Ring: a record written into an open one is lost and counted, the open one is whole", "[diag][ring]") {
  Bench b(1024);
  char* at = b.ring->reserve(64, {1, Level::kDebug});
  REQUIRE(at != nullptr);
  CHECK_FALSE(b.write(9));
  RecordHeader h{};
  h.size_bytes = 64;
  h.site = 5;
  std::memcpy(at, &h, sizeof h);
  std::memset(at + kHeader, 5, 64 - kHeader);
  b.ring->publish(64);
  CHECK(b.write(6));
  CHECK(b.read() == Met{"5", "gap 1:1", "6"});
}

TEST_CASE("Ring: a name holds for the records behind it", "[diag][ring]") {
  Bench b(1024);
  REQUIRE(b.ring->take_over("one"));
  b.write(1);
  b.ring->leave();
  REQUIRE(b.ring->take_over("two, with a name longer than fifteen bytes"));
  b.write(2);
  b.ring->rename("three");
  b.write(3);
  CHECK(b.read() == Met{"name one", "1", "name two, with a nam", "2", "name three", "3"});
}

TEST_CASE("Ring: is not taken over before its former owner's loss can be told", "[diag][ring]") {
  Bench b(1024);
  while (b.write(1, 64, Level::kError)) {
  }
  b.ring->leave();
  CHECK_FALSE(b.ring->take_over("next"));
  b.read();
  REQUIRE(b.ring->take_over("next"));
  CHECK(b.read() == Met{"gap 1:1", "name next"});
}

TEST_CASE("Ring: asks for a wake when it crosses half full, not on every record", "[diag][ring]") {
  Bench b(4096);
  std::size_t written = 0;
  while (b.woken == 0) {
    REQUIRE(b.write(1, 64));
    written += 64;
  }
  CHECK(written == 2048);
  for (int i = 0; i < 7; ++i) b.write(1, 64);
  CHECK(b.woken == 1);
  b.read();
  for (int i = 0; i < 16; ++i) b.write(1, 64);
  CHECK(b.woken == 1);
}

TEST_CASE("Ring: agrees with a plain queue on random input", "[diag][ring]") {
  for (unsigned seed = 1; seed <= unsigned{rounds(200)}; ++seed) {
    std::mt19937 random(seed);
    Bench b(std::size_t{512} << random() % 3);
    std::deque<std::string> expected;
    std::uint64_t kept = 0, sent = 0;
    auto check = [&](const Met& met) {
      for (const std::string& what : met) {
        if (what.starts_with("gap")) continue;
        if (expected.empty() || what != expected.front()) FAIL("met " << what);
        expected.pop_front();
      }
    };
    for (std::uint32_t i = 0; i < 2000; ++i) {
      if (random() % 3 != 0) {
        auto level = random() % 5 == 0 ? Level::kError : Level::kDebug;
        ++sent;
        if (b.write(i, kHeader + random() % 20 * 8, level, random() % 8)) {
          ++kept;
          expected.push_back(std::to_string(i));
        }
      } else {
        check(b.read(random() % 6));
      }
    }
    check(b.read());
    CHECK(expected.empty());
    CHECK(b.ring->records() == kept);
    CHECK(kept + b.ring->drops().total() == sent);
    b.ring->leave();
    b.read();
    CHECK(b.gaps == b.ring->drops().total());
  }
}

TEST_CASE("Ring: with a thread at each end, kept and dropped make sent, and order holds", "[diag][ring]") {
  Bench b(4096);
  constexpr std::uint32_t kSent = 200'000;
  std::thread producer([&] {
    for (std::uint32_t i = 1; i <= kSent; ++i) b.write(i, kHeader + i % 9 * 8);
  });
  std::uint32_t last = 0;
  std::uint64_t kept = 0;
  auto read = [&] {
    for (const std::string& what : b.read(100)) {
      if (what.starts_with("gap")) continue;
      auto number = static_cast<std::uint32_t>(std::stoul(what));
      if (number <= last) FAIL("record " << number << " behind " << last);
      last = number;
      ++kept;
    }
  };
  while (kept + b.gaps < kSent && b.ring->records() + b.ring->drops().total() < kSent) read();
  producer.join();
  b.ring->leave();
  while (kept < b.ring->records()) read();
  read();
  b.ring->leave();
  read();
  CHECK(kept == b.ring->records());
  CHECK(kept + b.gaps == kSent);
}

TEST_CASE("DropCounts: the 63 first tags have counts of their own, later ones share the last", "[diag][ring]") {
  DropCounts counts;
  for (std::uint32_t tag = 1; tag <= 65; ++tag) {
    for (std::uint32_t n = 0; n < tag; ++n) counts.add({tag, Level::kNote, DropReason::kFull});
  }
  std::map<std::uint32_t, std::uint64_t> by_tag;
  for (std::size_t i = 0; i < DropCounts::kSlots; ++i) {
    if (counts.count(i) > 0) by_tag[counts.key(i).tag] = counts.count(i);
  }
  CHECK(by_tag.size() == 64);
  for (std::uint32_t tag = 1; tag <= 63; ++tag) CHECK(by_tag[tag] == tag);
  CHECK(by_tag[kOtherTags] == 64 + 65);
  CHECK(counts.total() == 65 * 66 / 2);
}
