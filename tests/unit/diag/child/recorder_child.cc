// SPDX-License-Identifier: Apache-2.0
// A process that floods its flight recorder and then ends in some way: see recorder_test.cc, which drives it.
//
//   recorder_child SCENARIO FOLDER COUNTERS
//
// COUNTERS is a file of 64-bit counters, one a thread: how many lines it has published. Thread t writes lines
// "line N of t", recorded only (tag flood) or also put out (level note), by turns of scenario.
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <telltale/diag/dbg.h>
#include <telltale/diag/debug_control.h>
#include <telltale/diag/level.h>
#include <telltale/diag/output.h>
#include <telltale/diag/printf.h>
#include <telltale/diag/recorder.h>
#include <telltale/diag/scope.h>

using namespace telltale::diag;
using namespace std::chrono_literals;

namespace {

// Ends the process inside malloc(), with the allocator's state and whatever locks it is called under as they are then.
std::atomic<bool> malloc_crashes{false};

constexpr DbgCtl flood_dbg{"flood"};
constexpr DbgCtl quiet_dbg{"quiet"};
constexpr DbgCtl both_dbg{"flood_both"};
constexpr DbgCtl nested_dbg{"flood_nested"};
constexpr int kThreads = 3;
constexpr int kSkipped = 77;

std::atomic<std::uint64_t>* counters = nullptr;

void write_line(int t, std::uint64_t i) {
  Context context{.connection = static_cast<std::uint64_t>(t) + 1, .transaction = i + 1};
  Scope scope(&context);
  Dbg(flood_dbg, "line {} of {} {}", i, t, std::string_view("........................................").substr(0, i % 40));
  counters[t].store(i + 1, std::memory_order_release);
}

[[noreturn]] void flood(int t) {
  set_thread_name("flood-" + std::to_string(t));
  for (std::uint64_t i = 0;; ++i) write_line(t, i);
}

void wait_for(std::uint64_t lines) {
  for (int t = 0; t < kThreads; ++t) {
    while (counters[t].load(std::memory_order_acquire) < lines) std::this_thread::sleep_for(1ms);
  }
}

void start_floods() {
  for (int t = 0; t < kThreads; ++t) std::thread(flood, t).detach();
}

[[gnu::format(printf, 2, 3)]] void print(const char* tag, const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  write_printf({Level::kDebug, tag, "recorder_child.cc", "print", 1, format}, arguments);
  va_end(arguments);
}

int inner() {
  Dbg(nested_dbg, "inner");
  return 7;
}

// Each flavour once, while debug is on for flood_both alone and the recorder for flood.
void write_each_flavour() {
  if (!set_base({Mode::kOn, "flood_both", ""})) std::exit(8);
  Dbg(both_dbg, "of both");
  Dbg(nested_dbg, "outer around {}", inner());
  Place place{.file = "recorder_child.cc", .function = "print", .format = "by a control %d", .line = 1};
  static RuntimeControl control("flood_control"), quiet("quiet_control");
  if (control.on_at(place)) print("flood_control", "by a control %d", 1);
  if (quiet.on_at(place)) print("quiet_control", "never recorded");
  if (string_tag_wanted_at("flood_string", place, false)) print("flood_string", "by a string %s", "tag");
  if (string_tag_wanted_at("quiet_string", place, false)) print("quiet_string", "never recorded");
  if (!set_base({})) std::exit(8);
}

// Children of a flooding process that write lines and end; then it kills itself.
int forks() {
  start_floods();
  for (int i = 0; i < 20; ++i) {
    wait_for(static_cast<std::uint64_t>(i) * 500);
    pid_t child = fork();
    if (child == 0) {
      for (int n = 0; n < 1000; ++n) Dbg(flood_dbg, "of a child {}", n);
      if (!recorder_directory().empty()) _exit(3);
      _exit(0);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child || status != 0) return 4;
  }
  raise(SIGKILL);
  return 0;
}

// Lets somebody wait until a line with a certain text has come.
class Told : public Sink {
 public:
  bool write(std::string_view lines) noexcept override {
    std::lock_guard lock(mutex_);
    text_ += lines;
    changed_.notify_all();
    return true;
  }
  bool wait_for(std::string_view text) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 60s, [&] { return text_.find(text) != std::string::npos; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string text_;
};

// A tmpfs of 1 MiB: the third ring or so does not fit.
int full(const std::string& folder) {
  if (unshare(CLONE_NEWNS) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return kSkipped;
  if (mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=1m") != 0) return kSkipped;
  auto told = std::make_shared<Told>();
  set_extra_sink(told);
  OutputConfig config;
  config.routes.fill(kToStderr | kToExtra);
  if (!configure_output(config) || !settle_output(60s)) return 7;
  auto on = configure_recorder({.folder = folder + "/recorder"});
  if (!on) {
    std::fprintf(stderr, "%s\n", on.error().c_str());
    return 5;
  }
  if (!set_recorder_tags("flood")) return 6;
  std::vector<std::thread> threads;
  std::atomic<int> ready{0};
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([t, &ready] {
      set_thread_name("flood-" + std::to_string(t));
      Dbg(flood_dbg, "hello");
      ready.fetch_add(1);
      while (ready.load() < 6) std::this_thread::yield();  // a thread that ended would leave its ring to the next
      for (int i = 0; i < 10'000; ++i) Dbg(flood_dbg, "line {} of {}", i, t);
    });
  }
  for (auto& thread : threads) thread.join();
  const bool heard = told->wait_for("are in private memory");
  stop_output(1s);
  return heard ? 0 : 9;
}

}  // namespace

#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
extern "C" void* __libc_malloc(std::size_t bytes);
extern "C" void* malloc(std::size_t bytes) {
  if (malloc_crashes.load(std::memory_order_relaxed)) *static_cast<volatile int*>(nullptr) = 1;
  return __libc_malloc(bytes);
}
#endif

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const std::string_view scenario = argv[1];
  int fd = open(argv[3], O_RDWR | O_CREAT, 0600);
  if (fd < 0 || ftruncate(fd, 4096) != 0) return 2;
  counters = static_cast<std::atomic<std::uint64_t>*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  set_thread_name("main");
  note("before the recorder");  // the main thread has a ring by now
  if (scenario == "full") return full(argv[2]);
  auto on = configure_recorder({.folder = argv[2], .keep = 2});
  if (!on) {
    std::fprintf(stderr, "%s\n", on.error().c_str());
    return 5;
  }
  OutputConfig quiet;
  quiet.routes.fill(0);
  if (!configure_output(quiet)) return 7;
  if (!set_recorder_tags("flood")) return 6;
  plugin_number("a plugin");
  note("the recorder is on");
  Dbg(quiet_dbg, "never recorded");
  write_each_flavour();
  if (scenario == "fork") return forks();
  if (scenario == "live") {
    start_floods();
    for (;;) pause();
  }
  if (scenario == "idle") {
    for (;;) pause();
  }
  start_floods();
  wait_for(20'000);
  if (scenario == "kill") raise(SIGKILL);
  if (scenario == "malloc") {
    malloc_crashes = true;
    for (int n = 0;; ++n) RuntimeControl one("flood_" + std::to_string(n));  // under the registry's lock, at times
  }
  if (scenario == "segv") *static_cast<volatile int*>(nullptr) = 1;
  if (scenario == "core") {
    rlimit all{RLIM_INFINITY, RLIM_INFINITY};
    setrlimit(RLIMIT_CORE, &all);
    FILE* filter = std::fopen("/proc/self/coredump_filter", "w");
    if (filter != nullptr) {
      std::fputs("0x3b", filter);
      std::fclose(filter);
    }
    std::abort();
  }
  if (scenario == "abort") std::abort();
  if (scenario == "_exit") _exit(0);
  if (scenario == "exit") std::exit(0);
  return 2;
}
