// SPDX-License-Identifier: Apache-2.0
// The tracepoints of lttng.cc: 64 of one class. The library reads this file several times, which is why
// its guard is the library's.
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER telltale_bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "lttng_provider.h"
#if !defined(TELLTALE_BENCH_LTTNG_PROVIDER_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define TELLTALE_BENCH_LTTNG_PROVIDER_H
#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT_CLASS(telltale_bench, done, LTTNG_UST_TP_ARGS(int, n, const char*, host),
                                 LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, n, n)
                                                         lttng_ust_field_string(host, host)))
#define BENCH_TRACEPOINT(N) \
  LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(telltale_bench, done, telltale_bench, done_##N, \
                                      LTTNG_UST_TP_ARGS(int, n, const char*, host))
#define BENCH_TRACEPOINTS(A)                                                                     \
  BENCH_TRACEPOINT(A##0) BENCH_TRACEPOINT(A##1) BENCH_TRACEPOINT(A##2) BENCH_TRACEPOINT(A##3)     \
  BENCH_TRACEPOINT(A##4) BENCH_TRACEPOINT(A##5) BENCH_TRACEPOINT(A##6) BENCH_TRACEPOINT(A##7)
BENCH_TRACEPOINTS(1) BENCH_TRACEPOINTS(2) BENCH_TRACEPOINTS(3) BENCH_TRACEPOINTS(4)
BENCH_TRACEPOINTS(5) BENCH_TRACEPOINTS(6) BENCH_TRACEPOINTS(7) BENCH_TRACEPOINTS(8)
#endif
#include <lttng/tracepoint-event.h>
