// SPDX-License-Identifier: Apache-2.0
// LTTng-UST's disabled tracepoint; no session daemon runs, or none has it enabled. See schemes.h.
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_provider.h"

#include "schemes.h"

namespace bench {

namespace {

[[gnu::noinline]] void run(int n, const char* host) {
#define LINE(N) lttng_ust_tracepoint(telltale_bench, done_##N, n, host)
  BENCH_64(LINE)
#undef LINE
}

}  // namespace

Scheme lttng_tracepoint() { return {"LTTng-UST", run, nullptr}; }

}  // namespace bench
