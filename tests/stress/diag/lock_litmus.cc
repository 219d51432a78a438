// SPDX-License-Identifier: Apache-2.0
//
// usage: lock_litmus [SECONDS]   (default 2)
//
// OneWriterMultiReader under everything at once, for a time. Three locks, so that a thread's slot names one
// right after the other; writers and readers, blocking and trying, some holds nested, threads that end and
// leave their slots behind. What is looked at each round:
//   exclusion        two plain numbers behind each lock, which a writer changes one after the other
//   one turn a phase between a writer that leaves and the one that was queued behind it, no more readers come
//                    in than there are (B20); the queued one is in `heir`
//   no lost wake-up  everybody ends; SIGALRM kills the program if not
// At the end, eight readers keep a tenth of their rate beside a writer that never rests (B22); with 10 seconds
// or more, a writer is let in by overlapping readers within 50 ms each of 1,000 times (B18).
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <random>
#include <shared_mutex>
#include <thread>
#include <vector>

#include <unistd.h>

#include <telltale/diag/one_writer_multi_reader.h>

using telltale::diag::OneWriterMultiReader;
using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

namespace {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

constexpr std::size_t kLocks = 3;
constexpr unsigned kReaders = 6;
constexpr unsigned kWriters = 2;

struct Guarded {
  OneWriterMultiReader lock;
  std::uint64_t first = 0;  // these four: guarded by lock
  std::uint64_t second = 0;
  bool heir = false;  // another writer was queued when the last one left
  std::uint64_t entered_then = 0;
  std::atomic<std::uint64_t> entered{0};  // readers, all together
};
std::array<Guarded, kLocks> all;

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "lock_litmus: %s\n", what);
  std::_Exit(1);
}

void look(Guarded& guarded, std::minstd_rand& random) {
  guarded.entered.fetch_add(1, std::memory_order_relaxed);
  const std::uint64_t first = guarded.first;
  if (random() % 64 == 0) std::this_thread::yield();
  if (guarded.second != first) fail("a reader was inside together with a writer");
}

void read_once(std::minstd_rand& random) {
  const std::size_t which = random() % kLocks;
  Guarded& guarded = all[which];
  if (random() % 4 == 0) {
    const std::shared_lock reader(guarded.lock, std::try_to_lock);
    if (reader) look(guarded, random);
    return;
  }
  const std::shared_lock reader(guarded.lock);
  look(guarded, random);
  // In one order only: a waiting writer of the second lock waits for this thread, and this one for it.
  if (which + 1 < kLocks && random() % 8 == 0) {
    const std::shared_lock nested(all[which + 1].lock);
    look(all[which + 1], random);
  }
}

void write_once(std::minstd_rand& random) {
  Guarded& guarded = all[random() % kLocks];
  std::unique_lock writer(guarded.lock, std::defer_lock);
  const bool queues = random() % 4 != 0;
  if (queues) {
    writer.lock();
  } else if (!writer.try_lock()) {
    return;
  }
  const std::uint64_t entered = guarded.entered.load(std::memory_order_relaxed);
  if (guarded.heir && entered - guarded.entered_then > kReaders) fail("readers passed a writer that was queued");
  if (guarded.first != guarded.second) fail("two writers were inside together");
  ++guarded.first;
  if (random() % 16 == 0) std::this_thread::yield();
  ++guarded.second;
  guarded.entered_then = guarded.entered.load(std::memory_order_relaxed);
  guarded.heir = guarded.lock.waiting().writers >= 2;  // it cannot go away
}

// Everybody, until the end; a reader's thread lasts some thousand rounds, then another takes its place.
std::uint64_t mix(Clock::time_point end) {
  std::atomic<std::uint64_t> rounds{0};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kReaders + kWriters; ++i) {
    threads.emplace_back([&rounds, end, i] {
      std::minstd_rand random(i + 1);
      while (Clock::now() < end) {
        std::thread([&] {
          const std::uint64_t count = 1000 + random() % 4000;
          std::uint64_t done = 0;
          for (; done < count && (done % 32 != 0 || Clock::now() < end); ++done) {
            i < kReaders ? read_once(random) : write_once(random);
          }
          rounds += done;
        }).join();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  return rounds;
}

// Reads of eight threads within `length`, beside a writer without pause or none.
std::uint64_t reads(std::chrono::milliseconds length, bool writes) {
  OneWriterMultiReader lock;
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> sum{0};
  std::vector<std::thread> threads;
  for (int r = 0; r < 8; ++r) {
    threads.emplace_back([&] {
      std::uint64_t mine = 0;
      for (; !stop.load(std::memory_order_relaxed); ++mine) {
        const std::shared_lock reader(lock);
      }
      sum += mine;
    });
  }
  if (writes) {
    threads.emplace_back([&] {
      while (!stop.load(std::memory_order_relaxed)) {
        const std::unique_lock writer(lock);
      }
    });
  }
  std::this_thread::sleep_for(length);
  stop = true;
  for (auto& thread : threads) thread.join();
  return sum;
}

// The longest of 1,000 waits for readers that hold the lock 0.2 ms to 0.5 ms; at least two are inside each time.
Clock::duration longest_wait() {
  OneWriterMultiReader lock;
  std::atomic<bool> stop{false};
  std::atomic<int> inside{0};
  std::vector<std::thread> readers;
  for (unsigned r = 0; r < 8; ++r) {
    readers.emplace_back([&, r] {
      std::minstd_rand random(r + 1);
      while (!stop) {
        const std::shared_lock reader(lock);
        ++inside;
        std::this_thread::sleep_for(std::chrono::microseconds(200 + random() % 300));
        --inside;
      }
    });
  }
  Clock::duration longest{0};
  for (int i = 0; i < 1000; ++i) {
    while (inside < 2) std::this_thread::yield();
    const auto asked = Clock::now();
    const std::unique_lock writer(lock);
    longest = std::max(longest, Clock::now() - asked);
  }
  stop = true;
  for (auto& reader : readers) reader.join();
  return longest;
}

}  // namespace

int main(int count, char** arguments) {
  const int seconds = count > 1 ? std::atoi(arguments[1]) : 2;
  if (seconds < 1) fail("usage: lock_litmus [SECONDS]");
  ::alarm(static_cast<unsigned>(seconds) + 120);
  const std::uint64_t rounds = mix(Clock::now() + std::chrono::seconds(seconds));
  std::uint64_t writes = 0;
  for (const Guarded& guarded : all) writes += guarded.first;
  if (writes == 0 || rounds < 100) fail("hardly anything was tried");

  const auto part = std::chrono::milliseconds(seconds * 100);
  const std::uint64_t alone = reads(part, false);
  const std::uint64_t beside = reads(part, true);
  std::printf("%llu rounds, %llu writes; reads alone %llu, beside a restless writer %llu\n",
              static_cast<unsigned long long>(rounds), static_cast<unsigned long long>(writes),
              static_cast<unsigned long long>(alone), static_cast<unsigned long long>(beside));
  if (!kSanitized && beside < alone / 10) fail("a writer that never rests shuts readers out");
  if (kSanitized && beside == 0) fail("no reader came in beside a writer that never rests");

  if (seconds >= 10) {
    const auto longest = longest_wait();
    std::printf("longest of 1,000 waits: %lld us\n",
                static_cast<long long>(std::chrono::duration_cast<std::chrono::microseconds>(longest).count()));
    if (!kSanitized && longest > 50ms) fail("overlapping readers kept a writer out for more than 50 ms");
  }
  return 0;
}
