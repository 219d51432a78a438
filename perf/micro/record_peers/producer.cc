// SPDX-License-Identifier: Apache-2.0
// See measurement.h. All contenders take turns within a round; a turn is 50 batches with a pause before each, as a
// server's thread writes some lines and then does something else. What is compared is of one round.
#include <time.h>
#include <x86intrin.h>

#include <chrono>
#include <cstdio>
#include <thread>

#include "allocations.h"
#include "contender.h"
#include "measurement.h"
#include "placing.h"

namespace bench {

namespace {

constexpr int kWarm = 10, kMeasured = 50;
constexpr long kPauseNs = 500'000;
constexpr double kOfReference = 1.4, kOfSpdlog = 0.1;

double ns_per_tick() {
  using namespace std::chrono;
  auto begin = steady_clock::now();
  unsigned long long ticks = __rdtsc();
  while (steady_clock::now() - begin < milliseconds(100)) {}
  auto took = duration<double, std::nano>(steady_clock::now() - begin);
  return took.count() / static_cast<double>(__rdtsc() - ticks);
}

template <class F>
double timed(F f) {
  unsigned core;
  _mm_lfence();
  unsigned long long begin = __rdtsc();
  _mm_lfence();
  f();
  unsigned long long end = __rdtscp(&core);
  _mm_lfence();
  return static_cast<double>(end - begin);
}

struct Figures {
  std::vector<double> of_round;  // medians, in ticks a line
  std::vector<double> all;
  std::uint64_t allocations = 0;
};

void turn(const Contender& contender, double clock, int& id, Figures& figures) {
  std::vector<double> batches;
  batches.reserve(kMeasured);
  for (int i = 0; i < kWarm + kMeasured; ++i, id += kBatch) {
    timespec pause{0, kPauseNs};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, nullptr);
    std::uint64_t before = allocations_of_this_thread();
    double ticks = timed([&] { contender.batch(id); });
    std::uint64_t made = allocations_of_this_thread() - before;
    if (i < kWarm) continue;
    batches.push_back(std::max(0.0, ticks - clock) / kBatch);
    figures.allocations += made;
  }
  figures.of_round.push_back(median(batches));
  figures.all.insert(figures.all.end(), batches.begin(), batches.end());
}

double ratio(const Figures& a, const Figures& b) {
  std::vector<double> all;
  for (std::size_t i = 0; i < a.of_round.size(); ++i) all.push_back(a.of_round[i] / b.of_round[i]);
  return median(all);
}

}  // namespace

bool measure_producer(const Extent& extent) {
  std::vector<Contender> contenders{telltale_lines(), reference_lines()};
#if defined(TELLTALE_HAVE_SPDLOG)
  contenders.push_back(spdlog_lines());
#endif
  place_others(1);
  for (const Contender& one : contenders) one.open(extent.folder + "/" + one.name);
  std::vector<Figures> figures(contenders.size());
  double tick = ns_per_tick();
  std::thread producer([&] {
    place_producer(0);
    std::vector<double> nothing;
    for (int i = 0; i < 10'000; ++i) nothing.push_back(timed([] {}));
    double clock = median(nothing);
    int id = 0;
    for (int round = 0; round < extent.rounds; ++round) {
      for (std::size_t i = 0; i < contenders.size(); ++i) {
        std::size_t at = (i + static_cast<std::size_t>(round)) % contenders.size();
        turn(contenders[at], clock, id, figures[at]);
      }
    }
  });
  producer.join();

  std::printf("| an enabled line, mean over %d | ns | 99 %% of the batches below | allocations |\n|---|---|---|---|\n", kBatch);
  std::uint64_t lost = 0;
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    std::vector<double> all = figures[i].all;
    std::sort(all.begin(), all.end());
    std::printf("| %s | %.1f | %.0f | %llu |\n", contenders[i].name, median(all) * tick, all[all.size() * 99 / 100] * tick,
                static_cast<unsigned long long>(figures[i].allocations));
    contenders[i].close();
    lost += contenders[i].lost();
  }
  std::printf("\n%d rounds, %s\n", extent.rounds, placing_words(1));
  double of_reference = ratio(figures[0], figures[1]);
  bool good = verdict(of_reference <= kOfReference, "a line costs at most %.1f times the reference's: %.2f", kOfReference, of_reference);
#if defined(TELLTALE_HAVE_SPDLOG)
  double of_spdlog = ratio(figures[0], figures[2]);
  good &= verdict(of_spdlog <= kOfSpdlog, "a line costs at most %.2f of spdlog's: %.3f", kOfSpdlog, of_spdlog);
#else
  std::printf("not judged  a line against spdlog's: it is not installed\n");
#endif
  good &= verdict(figures[0].allocations == 0, "a line allocates nothing: %llu allocations", static_cast<unsigned long long>(figures[0].allocations));
  good &= verdict(lost == 0, "no line was lost: %llu", static_cast<unsigned long long>(lost));
  return good;
}

}  // namespace bench
