// SPDX-License-Identifier: Apache-2.0
#pragma once
// Schemes: one function per way of having a disabled debug line, each with kSites lines in a row and
// nothing else, so that all are measured by the same code and the same work around them.
//
//   nothing        the loop's own cost: no line at all
//   telltale       Dbg()
//   three loads    a static control per site, which points to its tag, which points to its state
//   spdlog         one logger's macro; and its level check alone, which guards it
//   glog           VLOG(1)
//   LTTng-UST      tracepoint(); a tracepoint of its own per site, as a tag is Telltale's unit
//
// Each scheme is a file of its own: two of them define macros of the same names.

#include <string_view>

namespace bench {

inline constexpr int kSites = 64;

struct Scheme {
  const char* name;
  void (*run)(int n, const char* host);  // all kSites lines once
  void (*prepare)();                     // once, before anything is measured; may be null
};

Scheme nothing();
Scheme telltale_sites();
Scheme three_loads();
#if defined(TELLTALE_HAVE_SPDLOG)
Scheme spdlog_call();
Scheme spdlog_check();
#endif
#if defined(TELLTALE_HAVE_GLOG)
Scheme glog_vlog();
#endif
#if defined(TELLTALE_HAVE_LTTNG)
Scheme lttng_tracepoint();
#endif

}  // namespace bench

// 64 times LINE(n), n = 0..63, with all memory unknown to the compiler in between: no load is shared.
#define BENCH_LINE(LINE, N) \
  LINE(N);                  \
  asm volatile("" ::: "memory");
#define BENCH_8(LINE, A)                                                                                       \
  BENCH_LINE(LINE, A##0) BENCH_LINE(LINE, A##1) BENCH_LINE(LINE, A##2) BENCH_LINE(LINE, A##3)                   \
  BENCH_LINE(LINE, A##4) BENCH_LINE(LINE, A##5) BENCH_LINE(LINE, A##6) BENCH_LINE(LINE, A##7)
#define BENCH_64(LINE)                                                        \
  BENCH_8(LINE, 1) BENCH_8(LINE, 2) BENCH_8(LINE, 3) BENCH_8(LINE, 4)          \
  BENCH_8(LINE, 5) BENCH_8(LINE, 6) BENCH_8(LINE, 7) BENCH_8(LINE, 8)
