// SPDX-License-Identifier: Apache-2.0
// Telltale's site, and the two yardsticks: no line at all, and three dependent loads. See schemes.h.
#include <atomic>

#include <telltale/diag/dbg.h>

#include "schemes.h"

namespace bench {

namespace {

constexpr DbgCtl off_dbg{"bench_off"};

[[gnu::noinline]] void run_nothing(int n, const char* host) {
#define LINE(N) asm volatile("" ::"r"(n), "r"(host))
  BENCH_64(LINE)
#undef LINE
}

[[gnu::noinline]] void run_sites(int n, const char* host) {
#define LINE(N) Dbg(off_dbg, "request {} done, host {}", n, host)
  BENCH_64(LINE)
#undef LINE
}

// Where a control is found through its site, its tag through the control, the state through the tag.
struct State {
  std::atomic<int> on{0};
};
struct TagOfLoads {
  std::atomic<State*> state;
};
struct ControlOfLoads {
  std::atomic<TagOfLoads*> tag;
};
State states[kSites];
TagOfLoads tags[kSites];
ControlOfLoads controls[kSites];

[[gnu::noinline, gnu::cold]] void write_line(const char* format, int n, const char* host) {
  asm volatile("" ::"r"(format), "r"(n), "r"(host));
}

[[gnu::noinline]] void run_three_loads(int n, const char* host) {
#define LINE(N)                                                                                             \
  do {                                                                                                      \
    ControlOfLoads& control = controls[(N / 10 - 1) * 8 + N % 10];                                          \
    TagOfLoads* tag = control.tag.load(std::memory_order_relaxed);                                          \
    State* state = tag->state.load(std::memory_order_relaxed);                                              \
    if (state->on.load(std::memory_order_relaxed) != 0) [[unlikely]] write_line("request {} done", n, host); \
  } while (0)
  BENCH_64(LINE)
#undef LINE
}

void prepare_three_loads() {
  for (int i = 0; i < kSites; ++i) {
    tags[i].state = &states[i];
    controls[i].tag = &tags[i];
  }
}

}  // namespace

Scheme nothing() { return {"nothing", run_nothing, nullptr}; }
Scheme telltale_sites() { return {"telltale", run_sites, nullptr}; }
Scheme three_loads() { return {"three loads", run_three_loads, prepare_three_loads}; }

}  // namespace bench
