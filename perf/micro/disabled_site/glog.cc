// SPDX-License-Identifier: Apache-2.0
// glog's VLOG(1) with verbosity 0. See schemes.h.
#include <glog/logging.h>

#include "schemes.h"

namespace bench {

namespace {

[[gnu::noinline]] void run(int n, const char* host) {
#define LINE(N) VLOG(1) << "request " << n << " done, host " << host
  BENCH_64(LINE)
#undef LINE
}

}  // namespace

Scheme glog_vlog() { return {"glog VLOG", run, nullptr}; }

}  // namespace bench
