// SPDX-License-Identifier: Apache-2.0
//
// No test waits a while and hopes: each waits until the lock itself says who is held back (waiting()), or
// until a count is reached. Deadlines only turn a hang into a failure.
#include <telltale/diag/one_writer_multi_reader.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <shared_mutex>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

using telltale::diag::OneWriterMultiReader;
using namespace std::chrono_literals;

namespace {

static_assert(std::is_trivially_destructible_v<OneWriterMultiReader>);
static_assert(!std::is_copy_constructible_v<OneWriterMultiReader> &&
              !std::is_copy_assignable_v<OneWriterMultiReader>);
static_assert(std::is_nothrow_default_constructible_v<OneWriterMultiReader>);
static_assert(sizeof(OneWriterMultiReader) == 64 && alignof(OneWriterMultiReader) == 64);

constexpr auto kDeadline = 30s;

// True once `happened` says so; false past the deadline.
bool eventually(const std::function<bool()>& happened) {
  const auto end = std::chrono::steady_clock::now() + kDeadline;
  while (!happened()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

void join_all(std::vector<std::thread>& threads) {
  for (auto& thread : threads) thread.join();
}

// True once a writer waits for the readers inside: no try_lock_shared gets in any more.
bool flag_up(OneWriterMultiReader& lock) {
  return eventually([&] {
    if (!lock.try_lock_shared()) return true;
    lock.unlock_shared();
    return false;
  });
}

// Keeps the calling thread on the which-th processor it may use: two threads on two then really run at once.
void stay_on_processor(int which) {
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  which %= CPU_COUNT(&allowed);
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (!CPU_ISSET(processor, &allowed) || which-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    (void)::sched_setaffinity(0, sizeof one, &one);
    return;
  }
}

// Runs `body` in a child and returns how it ended. A hang ends by SIGALRM.
template <typename Body>
int status_of_child(Body body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    body();
    ::_exit(0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}
bool ended_well(int status) { return WIFEXITED(status) && WEXITSTATUS(status) == 0; }

template <typename Body>
bool aborts(Body body) {
  const int status = status_of_child([&] {
    const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    ::dup2(nowhere, STDERR_FILENO);
    std::signal(SIGABRT, SIG_DFL);   // Catch's own handler would report a failure
    body();
  });
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

// Two numbers that a writer changes one after the other; plain, so that ThreadSanitizer watches too.
struct Pair {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
};

// Static order: this object is made before main and goes after it, with the lock in use both times.
constinit OneWriterMultiReader static_lock;
constinit int static_constructor_locked = 0;
constinit int report_fd = -1;
struct UsesLockInStaticOrder {
  UsesLockInStaticOrder() {
    const std::unique_lock writer(static_lock);
    ++static_constructor_locked;
  }
  ~UsesLockInStaticOrder() {
    { const std::unique_lock writer(static_lock); }
    const std::shared_lock reader(static_lock);
    if (report_fd >= 0 && ::write(report_fd, "d", 1) != 1) std::abort();
  }
} uses_lock_in_static_order;

}  // namespace

TEST_CASE("Lock: a writer and readers exclude each other, and so do writers", "[diag][lock]") {
  OneWriterMultiReader lock;
  Pair pair;
  std::atomic<int> inside_writers{0};
  std::atomic<bool> broken{false};
  std::atomic<int> writers_left{2};
  std::vector<std::thread> threads;
  for (int w = 0; w < 2; ++w) {
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) {
        const std::unique_lock guard(lock);
        if (inside_writers.fetch_add(1) != 0) broken = true;
        ++pair.first;
        if (i % 64 == 0) std::this_thread::yield();
        ++pair.second;
        inside_writers.fetch_sub(1);
      }
      --writers_left;
    });
  }
  for (int r = 0; r < 4; ++r) {
    threads.emplace_back([&, r] {
      for (int i = r; writers_left > 0; ++i) {
        const std::shared_lock guard(lock);
        const std::uint64_t first = pair.first;
        if (i % 64 == 0) std::this_thread::yield();
        if (first != pair.second || inside_writers.load() != 0) broken = true;
      }
    });
  }
  join_all(threads);
  CHECK_FALSE(broken);
  CHECK(pair.first == 4000);
  CHECK(pair.second == 4000);
}

// One of each and hardly anything inside: the reader's announcement is still on its way to the other core
// when the writer looks.
TEST_CASE("Lock: a writer sees a reader that announced itself a moment ago", "[diag][lock]") {
  OneWriterMultiReader lock;
  std::atomic<bool> writing{false};
  std::atomic<std::uint64_t> reads{0};
  std::atomic<bool> stop{false};
  std::atomic<bool> broken{false};
  std::thread reader([&] {
    stay_on_processor(0);
    while (!stop.load(std::memory_order_relaxed)) {
      lock.lock_shared();
      for (int look = 0; look < 20; ++look) {
        if (writing.load(std::memory_order_relaxed)) broken.store(true, std::memory_order_relaxed);
      }
      lock.unlock_shared();
      reads.store(reads.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
  });
  std::thread writer([&] {
    stay_on_processor(1);
    // The time bounds how hard it tries, not what it demands.
    for (const auto end = std::chrono::steady_clock::now() + 1s; std::chrono::steady_clock::now() < end;) {
      lock.lock();
      writing.store(true, std::memory_order_relaxed);
      for (int look = 0; look < 40; ++look) (void)reads.load(std::memory_order_relaxed);
      writing.store(false, std::memory_order_relaxed);
      lock.unlock();
      // The reader should go at full speed when the next flag goes up: let it read a few times, if it runs.
      const std::uint64_t before = reads;
      for (int look = 0; look < 300 && reads.load(std::memory_order_relaxed) - before < 5; ++look) {
      }
    }
    stop = true;
  });
  writer.join();
  reader.join();
  CHECK_FALSE(broken);
}

TEST_CASE("Lock: the try forms exclude as well as the others", "[diag][lock]") {
  OneWriterMultiReader lock;
  Pair pair;
  std::atomic<bool> broken{false};
  std::atomic<int> writers_left{3};
  std::vector<std::thread> threads;
  for (int w = 0; w < 3; ++w) {
    threads.emplace_back([&, w] {
      for (int done = 0; done < 1000;) {
        if (w == 0) {
          lock.lock();
        } else if (!lock.try_lock()) {
          std::this_thread::yield();
          continue;
        }
        ++pair.first;
        ++pair.second;
        lock.unlock();
        ++done;
      }
      --writers_left;
    });
  }
  for (int r = 0; r < 3; ++r) {
    threads.emplace_back([&, r] {
      while (writers_left > 0) {
        if (r == 0) {
          lock.lock_shared();
        } else if (!lock.try_lock_shared()) {
          std::this_thread::yield();
          continue;
        }
        if (pair.first != pair.second) broken = true;
        lock.unlock_shared();
        std::this_thread::yield();
      }
    });
  }
  join_all(threads);
  CHECK_FALSE(broken);
  CHECK(pair.first == 3000);
}

TEST_CASE("Lock: readers are inside together", "[diag][lock]") {
  OneWriterMultiReader lock;
  std::atomic<int> inside{0};
  std::atomic<int> met{0};
  std::vector<std::thread> threads;
  for (int r = 0; r < 4; ++r) {
    threads.emplace_back([&] {
      const std::shared_lock guard(lock);
      ++inside;
      met += eventually([&] { return inside == 4; });   // none leaves before all four are in
    });
  }
  join_all(threads);
  CHECK(met == 4);
}

TEST_CASE("Lock: the try forms say no exactly where they must", "[diag][lock]") {
  OneWriterMultiReader lock;
  auto elsewhere = [](auto&& call) {
    bool result = false;
    std::thread([&] { result = call(); }).join();
    return result;
  };
  auto try_shared = [&] {
    const bool in = lock.try_lock_shared();
    if (in) lock.unlock_shared();
    return in;
  };
  auto try_exclusive = [&] {
    const bool in = lock.try_lock();
    if (in) lock.unlock();
    return in;
  };

  CHECK(elsewhere(try_shared));
  CHECK(elsewhere(try_exclusive));
  lock.lock_shared();
  CHECK(elsewhere(try_shared));
  CHECK_FALSE(elsewhere(try_exclusive));
  CHECK_FALSE(lock.try_lock());
  lock.unlock_shared();
  REQUIRE(lock.try_lock());
  CHECK_FALSE(elsewhere(try_shared));
  CHECK_FALSE(elsewhere(try_exclusive));
  lock.unlock();
  CHECK(elsewhere(try_exclusive));
}

TEST_CASE("Lock: std::shared_lock and std::unique_lock work on it", "[diag][lock]") {
  OneWriterMultiReader lock;
  {
    std::shared_lock reader(lock);
    CHECK(reader.owns_lock());
    std::unique_lock writer(lock, std::try_to_lock);
    CHECK_FALSE(writer.owns_lock());
    reader.unlock();
    CHECK(writer.try_lock());
    std::shared_lock late(lock, std::defer_lock);
    CHECK_FALSE(late.try_lock());
  }
  OneWriterMultiReader other;
  const std::scoped_lock both(lock, other);
  CHECK(lock.waiting().writers == 1);
  CHECK(other.waiting().writers == 1);
}

TEST_CASE("Lock: a waiting writer holds new readers back", "[diag][lock]") {
  OneWriterMultiReader lock;
  std::atomic<int> entered{0};
  int entered_before_writer = -1;
  std::atomic<int> ready{0};
  lock.lock_shared();
  std::thread writer([&] {
    const std::unique_lock guard(lock);
    entered_before_writer = entered;
  });
  std::vector<std::thread> readers;
  bool up = false;
  // try_lock_shared is for a thread that does not hold the lock.
  std::thread([&] { up = flag_up(lock); }).join();
  REQUIRE(up);
  for (int r = 0; r < 6; ++r) {
    readers.emplace_back([&] {
      ++ready;
      const std::shared_lock guard(lock);
      ++entered;
    });
  }
  const bool all_held_back = eventually([&] { return lock.waiting().readers == 6; });
  const int entered_while_waiting = entered;
  lock.unlock_shared();
  writer.join();
  join_all(readers);
  CHECK(all_held_back);
  CHECK(entered_while_waiting == 0);
  CHECK(entered_before_writer == 0);
  CHECK(entered == 6);
}

// B20: the mark of a waiting writer must survive the writer before it. Six readers loop; writer 2 queues
// behind writer 1 while all six are held back. Each of them enters once between the two, none twice.
TEST_CASE("Lock: readers held back by a writer enter before the next one, and not one reader more",
          "[diag][lock]") {
  constexpr int kReaders = 6;
  constexpr int kRounds = 50;
  OneWriterMultiReader lock;
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> entered{0};
  std::array<std::atomic<std::uint64_t>, kReaders> by_reader{};
  std::vector<std::thread> readers;
  for (int r = 0; r < kReaders; ++r) {
    readers.emplace_back([&, r] {
      while (!stop) {
        const std::shared_lock guard(lock);
        ++entered;
        ++by_reader[static_cast<std::size_t>(r)];
      }
    });
  }
  int wrong_count = 0;
  int missed_reader = 0;
  bool arranged = true;
  for (int round = 0; round < kRounds && arranged; ++round) {
    lock.lock();
    std::uint64_t entered_at_second = 0;
    std::array<std::uint64_t, kReaders> at_second{};
    std::thread second([&] {
      const std::unique_lock guard(lock);
      entered_at_second = entered;
      for (std::size_t r = 0; r < kReaders; ++r) at_second[r] = by_reader[r];
    });
    arranged = eventually([&] { return lock.waiting().readers == kReaders && lock.waiting().writers == 2; });
    const std::uint64_t entered_at_first = entered;
    std::array<std::uint64_t, kReaders> at_first{};
    for (std::size_t r = 0; r < kReaders; ++r) at_first[r] = by_reader[r];
    lock.unlock();
    second.join();
    if (entered_at_second - entered_at_first != kReaders) ++wrong_count;
    for (std::size_t r = 0; r < kReaders; ++r) missed_reader += at_second[r] - at_first[r] != 1;
  }
  stop = true;
  join_all(readers);
  CHECK(arranged);
  CHECK(wrong_count == 0);
  CHECK(missed_reader == 0);
}

TEST_CASE("Lock: writers go first come, first served", "[diag][lock]") {
  OneWriterMultiReader lock;
  std::vector<int> order;
  lock.lock();
  std::vector<std::thread> writers;
  bool queued = true;
  for (int w = 0; w < 40; ++w) {   // more than the 32 lanes their sleep is told apart by
    writers.emplace_back([&, w] {
      const std::unique_lock guard(lock);
      order.push_back(w);
    });
    queued = queued && eventually([&] { return lock.waiting().writers == static_cast<unsigned>(w) + 2; });
  }
  lock.unlock();
  join_all(writers);
  CHECK(queued);
  REQUIRE(order.size() == 40);
  CHECK(std::is_sorted(order.begin(), order.end()));
}

// B18: eight readers whose holds overlap, so that the shared side is hardly ever free. The workload
// sleeps; the verdict does not: the writer has its 200 turns or the deadline passes.
TEST_CASE("Lock: writers get through overlapping readers", "[diag][lock]") {
  OneWriterMultiReader lock;
  std::atomic<bool> stop{false};
  std::atomic<int> inside{0};
  std::vector<std::thread> readers;
  for (unsigned r = 0; r < 8; ++r) {
    readers.emplace_back([&, r] {
      std::minstd_rand random(r + 1);
      const auto end = std::chrono::steady_clock::now() + kDeadline;
      while (!stop && std::chrono::steady_clock::now() < end) {
        const std::shared_lock guard(lock);
        ++inside;
        std::this_thread::sleep_for(std::chrono::microseconds(200 + random() % 300));
        --inside;
      }
    });
  }
  const auto begin = std::chrono::steady_clock::now();
  std::chrono::nanoseconds longest{0};
  bool overlapping = true;
  for (int i = 0; i < 200; ++i) {
    overlapping = overlapping && eventually([&] { return inside >= 2; });
    const auto asked = std::chrono::steady_clock::now();
    const std::unique_lock guard(lock);
    longest = std::max(longest, std::chrono::steady_clock::now() - asked);
  }
  const auto took = std::chrono::steady_clock::now() - begin;
  stop = true;
  join_all(readers);
  INFO("longest wait of the writer: " << longest.count() / 1000 << " us");
  CHECK(overlapping);
  CHECK(took < kDeadline);
}

// B22: the reverse. Each reader must get in after each of 50 different numbers of writes.
TEST_CASE("Lock: readers get through while a writer loops", "[diag][lock]") {
  constexpr int kReaders = 8;
  OneWriterMultiReader lock;
  std::uint64_t writes = 0;
  std::atomic<int> readers_left{kReaders};
  std::atomic<bool> late{false};
  std::vector<std::thread> threads;
  for (int r = 0; r < kReaders; ++r) {
    threads.emplace_back([&] {
      const auto end = std::chrono::steady_clock::now() + kDeadline;
      std::uint64_t last_seen = 0;
      for (int changes = 0; changes < 50 && !late;) {
        const std::shared_lock guard(lock);
        changes += writes != last_seen;
        last_seen = writes;
        if (std::chrono::steady_clock::now() > end) late = true;
      }
      --readers_left;
    });
  }
  while (readers_left > 0) {
    const std::unique_lock guard(lock);
    ++writes;
  }
  join_all(threads);
  CHECK_FALSE(late);
  CHECK(writes >= 50);
}

TEST_CASE("Lock: more threads than slots read together, and still exclude a writer", "[diag][lock]") {
  constexpr int kThreads = static_cast<int>(OneWriterMultiReader::kSlots) + 8;
  OneWriterMultiReader lock;
  Pair pair;
  std::atomic<int> inside{0};
  std::atomic<int> without_slot{0};
  std::atomic<bool> leave{false};
  std::atomic<bool> broken{false};
  std::atomic<bool> written{false};
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      {
        const std::shared_lock guard(lock);
        if (!OneWriterMultiReader::this_thread_has_slot()) ++without_slot;
        ++inside;
        leave.wait(false);
        if (pair.first != 0) broken = true;
      }
      written.wait(false);
      const bool in = lock.try_lock_shared();
      if (!in) lock.lock_shared();
      if (pair.first != 1 || pair.second != 1) broken = true;
      lock.unlock_shared();
    });
  }
  const bool all_inside = eventually([&] { return inside == kThreads; });
  const bool writer_got_in = lock.try_lock();
  if (writer_got_in) lock.unlock();
  std::thread writer([&] {
    const std::unique_lock guard(lock);
    ++pair.first;
    ++pair.second;
    written = true;
    written.notify_all();
  });
  const bool writer_waits = eventually([&] { return lock.waiting().writers == 1; });
  leave = true;
  leave.notify_all();
  writer.join();
  join_all(threads);
  CHECK(all_inside);
  CHECK(writer_waits);
  CHECK_FALSE(writer_got_in);
  CHECK(without_slot >= 8);
  CHECK_FALSE(broken);
  CHECK(pair.second == 1);
}

TEST_CASE("Lock: 10,000 short threads reuse the slots of those that ended", "[diag][lock]") {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  constexpr int kThreads = 1000;   // a thread costs many times as much there
#else
  constexpr int kThreads = 10000;
#endif
  OneWriterMultiReader lock;
  int without_slot = 0;
  int errno_lost = 0;
  for (int i = 0; i < kThreads; ++i) {
    std::thread([&] {
      errno = 4711;   // the search for the dead must not change it
      const std::shared_lock guard(lock);
      if (errno != 4711) ++errno_lost;
      if (!OneWriterMultiReader::this_thread_has_slot()) ++without_slot;
    }).join();
  }
  CHECK(without_slot == 0);
  CHECK(errno_lost == 0);
  CHECK(lock.try_lock());
  lock.unlock();
}

TEST_CASE("Lock: one thread holds as many locks shared as fit its slot, and one more", "[diag][lock]") {
  constexpr std::size_t kLocks = OneWriterMultiReader::kHeldPerThread + 1;
  std::array<OneWriterMultiReader, kLocks> locks;
  auto taken = [&] {
    std::string result;
    std::thread([&] {
      for (auto& lock : locks) {
        const bool free = lock.try_lock();
        if (free) lock.unlock();
        result += free ? '-' : 'R';
      }
    }).join();
    return result;
  };
  CHECK(taken() == "--------");
  for (auto& lock : locks) lock.lock_shared();
  CHECK(taken() == "RRRRRRRR");
  locks[3].unlock_shared();   // not in the order they were taken
  locks[7].unlock_shared();
  CHECK(taken() == "RRR-RRR-");
  locks[7].lock_shared();   // into the place that 3 left
  locks[3].lock_shared();   // counted now
  CHECK(taken() == "RRRRRRRR");
  for (auto& lock : locks) lock.unlock_shared();
  CHECK(taken() == "--------");
}

TEST_CASE("Lock: a writer of one lock does not disturb readers of another", "[diag][lock]") {
  OneWriterMultiReader written;
  OneWriterMultiReader read;
  const std::unique_lock writer(written);
  bool in = false;
  std::thread([&] { in = read.try_lock_shared(); if (in) read.unlock_shared(); }).join();
  CHECK(in);
  const std::shared_lock reader(read);   // one thread, the exclusive side of one, the shared of another
  CHECK(written.waiting().writers == 1);
}

TEST_CASE("Lock: recursion and unlocking what is not held abort", "[diag][lock]") {
  static OneWriterMultiReader lock;
  CHECK(aborts([] { lock.lock_shared(); lock.lock_shared(); }));
  CHECK(aborts([] { lock.lock_shared(); (void)lock.try_lock_shared(); }));
  CHECK(aborts([] { lock.lock_shared(); lock.lock(); }));
  CHECK(aborts([] { lock.lock(); lock.lock(); }));
  CHECK(aborts([] { lock.lock(); lock.lock_shared(); }));
  CHECK(aborts([] { lock.unlock(); }));
  CHECK(aborts([] { lock.unlock_shared(); }));
  CHECK(aborts([] { lock.lock(); lock.unlock_shared(); }));
  CHECK(aborts([] { lock.lock_shared(); lock.unlock(); }));
  CHECK(aborts([] { lock.unlock_after_fork(); }));
  CHECK_FALSE(aborts([] { lock.lock_shared(); lock.unlock_shared(); lock.lock(); lock.unlock(); }));
}

TEST_CASE("Lock: it works in static constructors and destructors", "[diag][lock]") {
  CHECK(static_constructor_locked == 1);
  int ends[2] = {-1, -1};
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  const int status = status_of_child([&] {
    const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    ::dup2(nowhere, STDOUT_FILENO);   // what the parent has buffered must not come out twice
    report_fd = ends[1];
    std::exit(0);
  });
  ::close(ends[1]);
  char said = 0;
  CHECK(::read(ends[0], &said, 1) == 1);
  CHECK(said == 'd');
  CHECK(ended_well(status));
  ::close(ends[0]);
}

TEST_CASE("Lock: a forked child is free of the shared holds of threads that are gone", "[diag][lock]") {
  OneWriterMultiReader lock;
  OneWriterMultiReader mine;
  std::atomic<int> inside{0};
  std::atomic<bool> leave{false};
  std::vector<std::thread> readers;
  for (int r = 0; r < 4; ++r) {
    readers.emplace_back([&] {
      const std::shared_lock guard(lock);
      ++inside;
      leave.wait(false);
    });
  }
  const bool all_inside = eventually([&] { return inside == 4; });
  mine.lock_shared();
  const int status = status_of_child([&] {
    if (!lock.try_lock()) ::_exit(1);
    lock.unlock();
    lock.lock();
    lock.unlock();
    if (mine.try_lock()) ::_exit(2);   // the forking thread's own hold stays
    mine.unlock_shared();
    if (!mine.try_lock()) ::_exit(3);
    mine.unlock();
  });
  mine.unlock_shared();
  const bool still_read = !lock.try_lock();
  leave = true;
  leave.notify_all();
  join_all(readers);
  CHECK(all_inside);
  CHECK(ended_well(status));
  CHECK(still_read);
}

TEST_CASE("Lock: held across fork, it is whole in the child whatever other threads did", "[diag][lock]") {
  OneWriterMultiReader lock;
  Pair pair;
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      while (!stop) {
        if (i % 2 == 0) {
          const std::unique_lock guard(lock);
          ++pair.first;
          ++pair.second;
        } else {
          const std::shared_lock guard(lock);
          if (pair.first != pair.second) std::abort();
        }
      }
    });
  }
  int bad = 0;
  for (int round = 0; round < 10; ++round) {
    lock.lock();
    const int status = status_of_child([&] {
      lock.unlock_after_fork();
      for (int i = 0; i < 3; ++i) {
        lock.lock_shared();
        if (pair.first != pair.second) ::_exit(1);
        lock.unlock_shared();
        lock.lock();
        ++pair.first;
        ++pair.second;
        lock.unlock();
      }
    });
    lock.unlock();
    if (!ended_well(status)) ++bad;
  }
  stop = true;
  join_all(threads);
  CHECK(bad == 0);
}

TEST_CASE("Lock: errno survives a wait", "[diag][lock]") {
  OneWriterMultiReader lock;
  int after = 0;
  lock.lock();
  std::thread reader([&] {
    errno = 4711;
    const std::shared_lock guard(lock);
    after = errno;
  });
  const bool held_back = eventually([&] { return lock.waiting().readers == 1; });
  lock.unlock();
  reader.join();
  CHECK(held_back);
  CHECK(after == 4711);
}
