// SPDX-License-Identifier: Apache-2.0
// See placing.h.
#include "placing.h"

#include <sched.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

namespace bench {

namespace {

// Those the process may use, as it was started.
const std::vector<int>& cores() {
  static const std::vector<int> all = [] {
    std::vector<int> found;
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0) std::abort();
    for (int core = 0; core < CPU_SETSIZE; ++core) {
      if (CPU_ISSET(core, &set)) found.push_back(core);
    }
    return found;
  }();
  return all;
}

void run_on(int thread, const std::vector<int>& some) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int core : some) CPU_SET(core, &set);
  sched_setaffinity(thread, sizeof set, &set);  // a thread that has ended is none the worse for it
}

bool rest_is_left(int producers) { return static_cast<std::size_t>(producers) < cores().size(); }

}  // namespace

void place_others(int producers) {
  std::vector<int> rest = cores();
  if (rest_is_left(producers)) rest.erase(rest.begin(), rest.begin() + producers);
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    run_on(std::atoi(thread.path().filename().c_str()), rest);
  }
}

void place_producer(int number) { run_on(0, {cores()[static_cast<std::size_t>(number) % cores().size()]}); }

const char* placing_words(int producers) {
  return rest_is_left(producers) ? "each producer on a core of its own, the backend on the rest" : "producers and backend share all cores";
}

}  // namespace bench
