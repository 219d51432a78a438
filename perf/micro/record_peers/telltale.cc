// SPDX-License-Identifier: Apache-2.0
// Telltale. See contender.h.
//
// The library drops and counts what does not fit into a ring; it does not wait. So lines() waits before it writes:
// no more lines are under way, of all producers together, than fit into one ring.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include <telltale/diag/dbg.h>
#include <telltale/diag/debug_control.h>
#include <telltale/diag/output.h>

#include "contender.h"

namespace bench {

namespace {

using namespace telltale::diag;

constexpr DbgCtl bench_dbg{"bench"};
// A ring's size where none may be lost: a queue of 8,192 messages of spdlog takes as much. Else it is the default,
// as the reference's.
constexpr std::size_t kRingBytes = std::size_t{4} << 20;
constexpr std::uint64_t kUnderWayMax = 30'000;  // lines of 96 bytes: less than 7/8 of that
constexpr int kChunk = 100;
constexpr std::uint64_t kRollBytes = 16u << 20;

std::atomic<std::uint64_t> sent{0};
std::uint64_t written_before = 0;

[[gnu::noinline]] void write_batch(int id) {
  for (int i = 0; i < kBatch; ++i, ++id) Dbg(bench_dbg, "req done id={} host={} took={}", id, host(id), took(id));
}

std::uint64_t written() { return output_status().lines_written - written_before; }

void write_lines(int id, int count) {
  if (!set_ring_bytes(kRingBytes)) std::abort();  // before this thread's first line
  for (int done = 0; done < count;) {
    int chunk = count - done < kChunk ? count - done : kChunk;
    std::uint64_t mine = sent.fetch_add(static_cast<std::uint64_t>(chunk), std::memory_order_relaxed) + static_cast<std::uint64_t>(chunk);
    while (mine > written() + kUnderWayMax) std::this_thread::sleep_for(std::chrono::microseconds(20));
    for (int i = 0; i < chunk; ++i, ++id, ++done) {
      Dbg(bench_dbg, "req done id={} host={} took={}", id, host(id), took(id));
    }
  }
}

void open(const std::string& path) {
  OutputConfig config;
  config.routes.fill(0);
  config.routes[static_cast<std::size_t>(Level::kDebug)] = kToLogFile;
  config.log_file = path;
  config.roll.size_bytes = kRollBytes;
  if (!configure_output(config) || !set_base({Mode::kOn, "bench", ""}) || !flush_output(std::chrono::seconds(10))) std::abort();
  written_before = output_status().lines_written;
  sent = 0;
}

void close() {
  if (!flush_output(std::chrono::seconds(60))) std::abort();
}

std::uint64_t lost() {
  OutputStatus status = output_status();
  return status.records_dropped + status.lines_lost;
}

}  // namespace

Contender telltale_lines() { return {"telltale", open, write_batch, write_lines, close, lost}; }

}  // namespace bench
