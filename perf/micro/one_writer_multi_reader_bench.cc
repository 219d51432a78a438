// SPDX-License-Identifier: Apache-2.0
//
// OneWriterMultiReader beside the locks of locks.h. locks.py runs this, prints the table and draws the plot.
//
//   Reads/N/W    N threads read, with nothing inside; W = 1: a writer asks every 5 ms, and each of its waits is
//                kept. One second. reads_per_s counts all threads together.
//   Lookup/N     N threads look a tag's name up in a table like that of the string tags, under a lock;
//   Bare/N       without one;
//   StringTag/N  the whole call that a string-tag site makes, with debug on for other tags.
//   Loop/N       N threads read while a writer writes without pause. One second.
//   Write        a write that nobody disturbs.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>

#include <telltale/diag/debug_control.h>

#include "registry_table.h"

#include "locks.h"

namespace telltale::perf {
namespace {

using diag::OneWriterMultiReader;
using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto kLength = 1s;
constexpr auto kBetweenWrites = 5ms;

double microseconds(Clock::duration length) { return std::chrono::duration<double, std::micro>(length).count(); }

// Waits of one writer, longest last.
class Waits {
 public:
  void add(Clock::duration wait) { waits_.push_back(wait); }
  void report(benchmark::State& state) {
    std::sort(waits_.begin(), waits_.end());
    const auto count = static_cast<double>(waits_.size());
    auto part = [&](double share) {  // nearest rank
      return microseconds(waits_.at(static_cast<std::size_t>(std::ceil(share * count)) - 1));
    };
    state.counters["writes"] = count;
    state.counters["wait_p50_us"] = part(0.5);
    state.counters["wait_p99_us"] = part(0.99);
    state.counters["wait_longest_us"] = part(1);
  }

 private:
  std::vector<Clock::duration> waits_;
};

template <typename Lock>
void contend(benchmark::State& state, bool writes, Clock::duration between) {
  std::uint64_t all = 0;
  double seconds = 0;
  Waits waits;
  for (auto _ : state) {
    Lock lock;
    std::atomic<std::uint64_t> reads{0};
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    const auto begin = Clock::now();
    for (int r = 0; r < state.range(0); ++r) {
      threads.emplace_back([&] {
        [[maybe_unused]] const ReadingThread<Lock> reading;
        std::uint64_t mine = 0;
        for (; !stop.load(std::memory_order_relaxed); mine += 64) {
          for (int i = 0; i < 64; ++i) {
            lock.lock_shared();
            lock.unlock_shared();
          }
        }
        reads += mine;
      });
    }
    if (writes) {
      threads.emplace_back([&] {
        for (auto next = begin + between; !stop; next += between) {
          if (between > 0s) std::this_thread::sleep_until(next);
          const auto asked = Clock::now();
          lock.lock();
          waits.add(Clock::now() - asked);
          lock.unlock();
        }
      });
    }
    std::this_thread::sleep_until(begin + kLength);
    stop = true;
    for (auto& thread : threads) thread.join();
    all += reads;
    seconds += microseconds(Clock::now() - begin) / 1e6;
  }
  state.counters["reads_per_s"] = static_cast<double>(all) / seconds;
  if (writes) waits.report(state);
}

template <typename Lock>
void Reads(benchmark::State& state) {
  contend<Lock>(state, state.range(1) != 0, kBetweenWrites);
}
template <typename Lock>
void Loop(benchmark::State& state) {
  contend<Lock>(state, true, 0s);
}

template <typename Lock>
void Write(benchmark::State& state) {
  static Lock lock;
  for (auto _ : state) {
    lock.lock();
    lock.unlock();
  }
}

// A table as lib/diag/src/string_tag.cc has it, with 600 names.
constexpr std::size_t kNames = 600;
constexpr std::size_t kPlaces = 8192;

struct Named {
  std::string_view name;
};

class Names {
 public:
  Names() {
    for (std::size_t i = 0; i < kNames; ++i) {
      texts_[i] = "subsystem_" + std::to_string(i);
      named_[i].name = texts_[i];
      places_[place_of(named_[i].name)] = &named_[i];
    }
  }
  std::string_view operator[](std::size_t i) const { return texts_[i]; }
  const Named* find(std::string_view name) const { return places_[place_of(name)]; }

 private:
  std::size_t place_of(std::string_view name) const {
    std::size_t at = diag::hash_bytes(name.data(), name.size()) % kPlaces;
    while (places_[at] != nullptr && places_[at]->name != name) at = (at + 1) % kPlaces;
    return at;
  }
  std::array<std::string, kNames> texts_;
  std::array<Named, kNames> named_;
  std::array<const Named*, kPlaces> places_{};
};

const Names& names() {
  static const Names all;
  return all;
}

struct NoLock {
  void lock_shared() {}
  void unlock_shared() {}
};

template <typename Look>
void look_up(benchmark::State& state, Look look) {
  const Names& all = names();
  std::size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(look(all[i]));
    i = i == kNames - 1 ? 0 : i + 1;
  }
  state.SetItemsProcessed(state.iterations());
}

template <typename Lock>
void Lookup(benchmark::State& state) {
  static Lock lock;
  look_up(state, [](std::string_view name) {
    const std::shared_lock guard(lock);
    return names().find(name);
  });
}
void Bare(benchmark::State& state) {
  look_up(state, [](std::string_view name) { return names().find(name); });
}
void StringTag(benchmark::State& state) {
  if (state.thread_index() == 0) {
    if (!diag::set_base({.mode = diag::Mode::kOn, .tags = "another_tag", .client_ip = ""})) std::abort();
  }
  look_up(state, [](std::string_view name) { return diag::string_tag_wanted(name, false); });
}

template <typename Lock>
void with(const char* name) {
  using benchmark::RegisterBenchmark;
  auto named = [&](const char* what) { return std::string(what) + "<" + name + ">"; };
  auto* reads = RegisterBenchmark(named("Reads").c_str(), Reads<Lock>);
  for (const int writer : {0, 1}) {
    for (const int readers : {1, 2, 4, 8}) reads->Args({readers, writer});
  }
  reads->Iterations(1)->UseRealTime();
  RegisterBenchmark(named("Loop").c_str(), Loop<Lock>)->Arg(8)->Iterations(1)->UseRealTime();
  RegisterBenchmark(named("Write").c_str(), Write<Lock>)->MinTime(0.1);
}
template <typename Lock>
void looked_up_under(const char* name) {
  const std::string full = std::string("Lookup<") + name + ">";
  benchmark::RegisterBenchmark(full.c_str(), Lookup<Lock>)->Threads(2)->Threads(4)->MinTime(0.3)->UseRealTime();
}

void register_all() {
  with<OneWriterMultiReader>("OneWriterMultiReader");
  with<std::shared_mutex>("std::shared_mutex");
  with<PthreadReaders>("pthread, prefers readers");
  with<PthreadWriters>("pthread, prefers writers");
#ifdef TELLTALE_HAVE_ABSL
  with<AbslMutex>("absl::Mutex");
#endif
#ifdef TELLTALE_HAVE_URCU
  with<UrcuReadSide>("liburcu, read side");
#endif
  looked_up_under<OneWriterMultiReader>("OneWriterMultiReader");
  looked_up_under<std::shared_mutex>("std::shared_mutex");
  benchmark::RegisterBenchmark("Bare", Bare)->Threads(1)->Threads(2)->Threads(4)->MinTime(0.3)->UseRealTime();
  benchmark::RegisterBenchmark("StringTag", StringTag)->Threads(1)->Threads(2)->Threads(4)->MinTime(0.3)->UseRealTime();
}

}  // namespace
}  // namespace telltale::perf

int main(int argc, char** argv) {
  telltale::perf::register_all();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
