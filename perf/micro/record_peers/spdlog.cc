// SPDX-License-Identifier: Apache-2.0
// spdlog. See contender.h. Its file is not rolled, which is to its advantage.
#define SPDLOG_ACTIVE_LEVEL SPDLOG_LEVEL_DEBUG
#include <spdlog/async.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>

#include "contender.h"

namespace bench {

namespace {

constexpr std::size_t kQueue = 8192;  // its own default

std::shared_ptr<spdlog::details::thread_pool> pool;
std::shared_ptr<spdlog::async_logger> logger;

[[gnu::noinline]] void write_batch(int id) {
  for (int i = 0; i < kBatch; ++i, ++id) SPDLOG_LOGGER_DEBUG(logger, "req done id={} host={} took={}", id, host(id), took(id));
}

void write_lines(int id, int count) {
  for (int i = 0; i < count; ++i, ++id) SPDLOG_LOGGER_DEBUG(logger, "req done id={} host={} took={}", id, host(id), took(id));
}

void open(const std::string& path) {
  pool = std::make_shared<spdlog::details::thread_pool>(kQueue, 1);
  auto sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path, true);
  logger = std::make_shared<spdlog::async_logger>("bench", sink, pool, spdlog::async_overflow_policy::block);
  logger->set_level(spdlog::level::debug);
  logger->set_pattern("[%Y-%m-%dT%H:%M:%S.%fZ] [%t] %l (%n) <%s:%# (%!)> %v", spdlog::pattern_time_type::utc);
}

// The pool's end waits for what is queued, and with it the file is closed.
void close() {
  logger.reset();
  pool.reset();
}

std::uint64_t lost() { return 0; }

}  // namespace

Contender spdlog_lines() { return {"spdlog", open, write_batch, write_lines, close, lost}; }

}  // namespace bench
