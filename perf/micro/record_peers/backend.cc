// SPDX-License-Identifier: Apache-2.0
// See measurement.h. Time runs from the first line until all of them are in the file; then the file is read.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

#include "contender.h"
#include "lines_file.h"
#include "measurement.h"
#include "placing.h"

namespace bench {

namespace {

constexpr double kLeast[] = {0, 1.1, 2.0};  // of spdlog's lines/s, by producers

struct Result {
  double lines_per_second;
  std::string wrong;  // empty: every line is there, in order
  int files;
};

Result run(const Contender& contender, const Extent& extent, int producers) {
  using namespace std::chrono;
  const std::string path = extent.folder + "/" + contender.name;
  place_others(producers);
  contender.open(path);
  place_others(producers);
  std::uint64_t lost = contender.lost();
  std::atomic<int> ready{0};
  std::atomic<bool> go{false};
  std::vector<std::thread> threads;
  for (int number = 0; number < producers; ++number) {
    threads.emplace_back([&, number] {
      place_producer(number);
      ++ready;
      while (!go) std::this_thread::yield();
      contender.lines(number << kProducerShift, extent.lines);
    });
  }
  while (ready < producers) std::this_thread::yield();
  auto begin = steady_clock::now();
  go = true;
  for (std::thread& thread : threads) thread.join();
  contender.close();
  double seconds = duration<double>(steady_clock::now() - begin).count();
  Result result{double(extent.lines) * producers / seconds, {}, 0};
  result.wrong = check_lines(path, producers, extent.lines, &result.files);
  if (contender.lost() != lost) result.wrong = std::to_string(contender.lost() - lost) + " lines were counted as lost";
  remove_lines(path);
  return result;
}

}  // namespace

bool measure_backend(const Extent& extent) {
  std::vector<Contender> contenders{telltale_lines()};
#if defined(TELLTALE_HAVE_SPDLOG)
  contenders.push_back(spdlog_lines());
#endif
  bool good = true;
  std::string wrong;
  std::printf("| producers | | lines/s | files of a run |\n|---|---|---|---|\n");
  std::string judged;
  for (int producers = 1; producers <= 2; ++producers) {
    std::vector<std::vector<double>> rates(contenders.size());
    std::vector<int> files(contenders.size());
    for (int round = 0; round < extent.rounds; ++round) {
      for (std::size_t i = 0; i < contenders.size(); ++i) {
        std::size_t at = (i + static_cast<std::size_t>(round)) % contenders.size();
        Result result = run(contenders[at], extent, producers);
        rates[at].push_back(result.lines_per_second);
        files[at] = result.files;
        if (!result.wrong.empty()) wrong += std::string(contenders[at].name) + ": " + result.wrong + "\n";
      }
    }
    for (std::size_t i = 0; i < contenders.size(); ++i) {
      std::printf("| %d | %s | %.0f | %d |\n", producers, contenders[i].name, median(rates[i]), files[i]);
    }
    std::fflush(stdout);
    if (contenders.size() < 2) continue;
    std::vector<double> ratios;
    for (std::size_t i = 0; i < rates[0].size(); ++i) ratios.push_back(rates[0][i] / rates[1][i]);
    bool met = median(ratios) >= kLeast[producers];
    good &= met;
    char text[160];
    std::snprintf(text, sizeof text, "%-12s%d producer%s: at least %.1f times spdlog's lines/s: %.2f; %s\n", met ? "met" : "MISSED", producers,
                  producers == 1 ? "" : "s", kLeast[producers], median(ratios), placing_words(producers));
    judged += text;
  }
  std::printf("\n%d rounds, %d lines of each producer, files in %s\n%s", extent.rounds, extent.lines, extent.folder.c_str(), judged.c_str());
  if (contenders.size() < 2) std::printf("not judged  lines/s against spdlog's: it is not installed\n");
  return verdict(wrong.empty(), "every line is in the file, whole and in its thread's order: %s", wrong.empty() ? "in every run" : wrong.c_str()) && good;
}

}  // namespace bench
