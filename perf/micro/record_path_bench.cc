// SPDX-License-Identifier: Apache-2.0
// What a debug line costs its thread: disabled, enabled, and into a full ring; and what a line costs the
// backend. Absolute figures move threefold with the machine's load: compare within one run.
//
// Enabled lines are written in bursts that fit into the ring, the backend drains between them with the
// clock stopped, as a server's threads write them; BM_ReadTicks is the stamp's share of their time.
#include <benchmark/benchmark.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include <telltale/diag/dbg.h>
#include <telltale/diag/debug_control.h>
#include <telltale/diag/level.h>
#include <telltale/diag/output.h>
#include <telltale/diag/throttle.h>

namespace {

using namespace telltale::diag;

constexpr DbgCtl on_dbg{"bench_on"};
constexpr DbgCtl off_dbg{"bench_off"};

// Takes all and keeps nothing; can be closed, then the backend waits in it.
class Gate : public Sink {
 public:
  bool write(std::string_view lines) noexcept override {
    std::unique_lock lock(mutex_);
    inside_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
    inside_ = false;
    bytes_ += lines.size();
    return true;
  }
  void close() {
    std::unique_lock lock(mutex_);
    open_ = false;
    status("closed");
    changed_.wait(lock, [this] { return inside_; });
  }
  void open() {
    std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = true, inside_ = false;
  std::size_t bytes_ = 0;
};

std::shared_ptr<Gate> gate() {
  static const std::shared_ptr<Gate> only = [] {
    auto fresh = std::make_shared<Gate>();
    OutputConfig config;
    config.routes.fill(kToExtra);
    set_extra_sink(fresh);
    set_throttle({.interval = std::chrono::milliseconds{0}});
    (void)configure_output(config);
    (void)set_base({Mode::kOn, "bench_on", ""});
    flush_output(std::chrono::seconds(10));
    return fresh;
  }();
  return only;
}

const std::string kHost = "host-001.example.com";  // 20 bytes
constexpr int kBurst = 500;

void BM_DisabledSite(benchmark::State& state) {
  gate();
  int n = 0;
  for (auto _ : state) {
    Dbg(off_dbg, "req done id={} host={} took={}", n, kHost, 0.5);
    benchmark::DoNotOptimize(++n);
  }
}
BENCHMARK(BM_DisabledSite);

#if defined(__x86_64__)
void BM_ReadTicks(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(__builtin_ia32_rdtsc());
}
BENCHMARK(BM_ReadTicks);
#endif

void BM_EnabledSite(benchmark::State& state) {
  gate();
  int n = 0;
  for (auto _ : state) {
    Dbg(on_dbg, "req done id={} host={} took={}", n, kHost, n * 0.001);
    if (++n % kBurst == 0) {
      state.PauseTiming();
      flush_output(std::chrono::seconds(10));
      state.ResumeTiming();
    }
  }
}
BENCHMARK(BM_EnabledSite);

void BM_LevelLine(benchmark::State& state) {
  gate();
  int n = 0;
  for (auto _ : state) {
    note("req done id={} host={} took={}", n, kHost, n * 0.001);
    if (++n % kBurst == 0) {
      state.PauseTiming();
      flush_output(std::chrono::seconds(10));
      state.ResumeTiming();
    }
  }
}
BENCHMARK(BM_LevelLine);

void BM_FullRing(benchmark::State& state) {
  std::shared_ptr<Gate> sink = gate();
  sink->close();
  for (int i = 0; i < 10'000; ++i) Dbg(on_dbg, "fill {}", i);
  std::uint64_t before = output_status().records_dropped;
  int n = 0;
  for (auto _ : state) Dbg(on_dbg, "req done id={} host={} took={}", ++n, kHost, 0.5);
  if (output_status().records_dropped - before != static_cast<std::uint64_t>(state.iterations())) state.SkipWithError("not all were dropped");
  sink->open();
  flush_output(std::chrono::seconds(10));
}
BENCHMARK(BM_FullRing);

// One line from ring to sink, at full batches.
void BM_BackendLine(benchmark::State& state) {
  std::shared_ptr<Gate> sink = gate();
  for (auto _ : state) {
    state.PauseTiming();
    sink->close();
    for (int i = 0; i < 2 * kBurst; ++i) Dbg(on_dbg, "req done id={} host={} took={}", i, kHost, i * 0.001);
    state.ResumeTiming();
    sink->open();
    flush_output(std::chrono::seconds(10));
  }
  state.SetItemsProcessed(state.iterations() * 2 * kBurst);
}
BENCHMARK(BM_BackendLine)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
