// SPDX-License-Identifier: Apache-2.0
//
// OneWriterMultiReader beside std::shared_mutex and glibc's pthread_rwlock in its writer-preferring kind.
// Read: what an undisturbed read costs. Writer: the longest wait of a writer whose readers overlap.
// Readers: what readers get while a writer loops. Figures and how to read them:
// docs/notes/one_writer_multi_reader.md.
#include <telltale/diag/one_writer_multi_reader.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

#include <pthread.h>

#include <benchmark/benchmark.h>

namespace {

using telltale::diag::OneWriterMultiReader;
using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

class WriterPreferringRwlock {
 public:
  WriterPreferringRwlock() {
    pthread_rwlockattr_t kind;
    pthread_rwlockattr_init(&kind);
    pthread_rwlockattr_setkind_np(&kind, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);   // kind 2
    pthread_rwlock_init(&lock_, &kind);
    pthread_rwlockattr_destroy(&kind);
  }
  ~WriterPreferringRwlock() { pthread_rwlock_destroy(&lock_); }
  WriterPreferringRwlock(const WriterPreferringRwlock&) = delete;
  WriterPreferringRwlock& operator=(const WriterPreferringRwlock&) = delete;

  void lock() { pthread_rwlock_wrlock(&lock_); }
  void unlock() { pthread_rwlock_unlock(&lock_); }
  void lock_shared() { pthread_rwlock_rdlock(&lock_); }
  void unlock_shared() { pthread_rwlock_unlock(&lock_); }

 private:
  pthread_rwlock_t lock_;
};

void busy(std::chrono::nanoseconds length) {
  for (const auto end = Clock::now() + length; Clock::now() < end;) {
  }
}

double microseconds(Clock::duration length) { return std::chrono::duration<double, std::micro>(length).count(); }

template <typename Lock>
Lock& shared_by_threads() {
  static Lock lock;
  return lock;
}

// An empty read; items_per_second counts all threads together.
template <typename Lock>
void Read(benchmark::State& state) {
  Lock& lock = shared_by_threads<Lock>();
  for (auto _ : state) {
    lock.lock_shared();
    lock.unlock_shared();
  }
  state.SetItemsProcessed(state.iterations());
}

// A write that nobody disturbs, while the threads of the process are idle.
template <typename Lock>
void Write(benchmark::State& state) {
  Lock& lock = shared_by_threads<Lock>();
  for (auto _ : state) {
    lock.lock();
    lock.unlock();
  }
  state.SetItemsProcessed(state.iterations());
}

// state.range(0) readers hold the lock 1 us at a time without pause; a writer asks again 50 us after each
// write, for one second. A lock that keeps the writer out shows few writes and a wait up to the second.
template <typename Lock>
void Writer(benchmark::State& state) {
  Clock::duration longest{0};
  std::uint64_t writes = 0;
  for (auto _ : state) {
    Lock lock;
    std::atomic<bool> stop{false};
    std::vector<std::thread> readers;
    for (int r = 0; r < state.range(0); ++r) {
      readers.emplace_back([&] {
        while (!stop) {
          const std::shared_lock guard(lock);
          busy(1us);
        }
      });
    }
    std::thread writer([&] {
      for (const auto end = Clock::now() + 1s; Clock::now() < end; busy(50us)) {
        const auto asked = Clock::now();
        const std::unique_lock guard(lock);
        longest = std::max(longest, Clock::now() - asked);
        ++writes;
      }
    });
    std::this_thread::sleep_for(1s);
    stop = true;
    writer.join();
    for (auto& reader : readers) reader.join();
  }
  state.counters["longest_wait_us"] = microseconds(longest);
  state.counters["writes"] = benchmark::Counter(static_cast<double>(writes), benchmark::Counter::kAvgIterations);
}

// state.range(0) readers read without pause for one second while a writer writes, works state.range(1) ns
// outside the lock, and writes again. -1: no writer, for comparison.
template <typename Lock>
void Readers(benchmark::State& state) {
  std::atomic<std::uint64_t> reads{0};
  std::atomic<std::uint64_t> fewest{0};
  std::uint64_t writes = 0;
  for (auto _ : state) {
    Lock lock;
    fewest = ~std::uint64_t{0};
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (int r = 0; r < state.range(0); ++r) {
      threads.emplace_back([&] {
        std::uint64_t mine = 0;
        for (; !stop; ++mine) {
          const std::shared_lock guard(lock);
        }
        reads += mine;
        for (std::uint64_t seen = fewest; mine < seen && !fewest.compare_exchange_weak(seen, mine);) {
        }
      });
    }
    if (state.range(1) >= 0) {
      threads.emplace_back([&] {
        for (; !stop; busy(std::chrono::nanoseconds(state.range(1)))) {
          const std::unique_lock guard(lock);
          ++writes;
        }
      });
    }
    std::this_thread::sleep_for(1s);
    stop = true;
    for (auto& thread : threads) thread.join();
  }
  using benchmark::Counter;
  state.counters["reads"] = Counter(static_cast<double>(reads), Counter::kAvgIterations);
  state.counters["fewest_by_one"] = static_cast<double>(fewest);
  state.counters["writes"] = Counter(static_cast<double>(writes), Counter::kAvgIterations);
}

#define FOR_EACH_LOCK(REGISTER)  \
  REGISTER(OneWriterMultiReader) \
  REGISTER(std::shared_mutex)    \
  REGISTER(WriterPreferringRwlock)

#define READ(lock) BENCHMARK(Read<lock>)->Threads(1)->Threads(2)->UseRealTime();
#define WRITE(lock) BENCHMARK(Write<lock>);
#define WRITER(lock) BENCHMARK(Writer<lock>)->Arg(1)->Arg(2)->Arg(4)->Iterations(1)->UseRealTime();
#define READERS(lock)        \
  BENCHMARK(Readers<lock>)   \
      ->Args({2, -1})        \
      ->Args({2, 0})         \
      ->Args({8, -1})        \
      ->Args({8, 0})         \
      ->Args({8, 200000})    \
      ->Iterations(1)        \
      ->UseRealTime();

FOR_EACH_LOCK(READ)
FOR_EACH_LOCK(WRITE)
FOR_EACH_LOCK(WRITER)
FOR_EACH_LOCK(READERS)

}  // namespace

BENCHMARK_MAIN();
