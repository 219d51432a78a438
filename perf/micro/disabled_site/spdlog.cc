// SPDX-License-Identifier: Apache-2.0
// spdlog: the call as its users write it, and its level check alone, as careful users guard it. See schemes.h.
#define SPDLOG_ACTIVE_LEVEL SPDLOG_LEVEL_DEBUG
#include <spdlog/sinks/null_sink.h>
#include <spdlog/spdlog.h>

#include "schemes.h"

namespace bench {

namespace {

spdlog::logger* logger = nullptr;

[[gnu::noinline]] void run_call(int n, const char* host) {
#define LINE(N) SPDLOG_LOGGER_DEBUG(logger, "request {} done, host {}", n, host)
  BENCH_64(LINE)
#undef LINE
}

[[gnu::noinline]] void run_check(int n, const char* host) {
#define LINE(N) \
  if (logger->should_log(spdlog::level::debug)) [[unlikely]] SPDLOG_LOGGER_DEBUG(logger, "request {} done, host {}", n, host)
  BENCH_64(LINE)
#undef LINE
}

void prepare() {
  if (logger != nullptr) return;
  logger = spdlog::null_logger_mt("bench").get();  // the library's registry keeps it
  logger->set_level(spdlog::level::warn);
}

}  // namespace

Scheme spdlog_call() { return {"spdlog", run_call, prepare}; }
Scheme spdlog_check() { return {"spdlog, level check", run_check, prepare}; }

}  // namespace bench
