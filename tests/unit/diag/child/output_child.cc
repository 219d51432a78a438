// SPDX-License-Identifier: Apache-2.0
// A process of its own for what cannot be tested inside a test program: how a process ends, forks, and
// what it does to its stderr. First argument: the scenario; second: a log file. process_test.cc drives it.
#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <telltale/diag/level.h>
#include <telltale/diag/output.h>
#include <telltale/diag/throttle.h>

using namespace telltale::diag;
using namespace std::chrono_literals;

namespace {

std::string log_file;

// A line from before main() and one from behind it.
struct EarlyAndLate {
  EarlyAndLate() { note("from a static constructor"); }
  ~EarlyAndLate() { note("from a static destructor"); }
} early_and_late;

void configure(std::uint8_t routes) {
  OutputConfig config;
  config.routes.fill(routes);
  if ((routes & kToLogFile) != 0) config.log_file = log_file;
  if (!configure_output(config)) _exit(99);
}

void write_lines(int n) {
  for (int i = 0; i < n; ++i) note("line {}", i);
}

struct Stuck : Sink {
  bool write(std::string_view) noexcept override {
    for (;;) pause();
  }
};

int fatal_with_stuck_sink() {
  set_extra_sink(std::make_shared<Stuck>());
  configure(kToExtra);
  fatal("nobody will read this");
}

// What the log must hold, for the test to compare.
void tell_counts() {
  OutputStatus sent = output_status();
  dprintf(STDOUT_FILENO, "%llu %llu\n", static_cast<unsigned long long>(sent.records_written),
          static_cast<unsigned long long>(sent.records_dropped));
}

int forks(int count) {
  configure(kToLogFile);
  std::atomic<bool> ends{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t, &ends] {
      set_thread_name("flood-" + std::to_string(t));
      for (int i = 0; !ends && i < 20'000; ++i) {
        note("parent {} {}", t, i);
        if (i % 100 == 0) std::this_thread::sleep_for(1ms);
      }
    });
  }
  int result = 0;
  for (int i = 0; i < count && result == 0; ++i) {
    note("before fork {}", i);
    pid_t child = fork();
    if (child == 0) {
      note("in the child");
      exit(0);
    }
    auto start = std::chrono::steady_clock::now();
    int status;
    if (waitpid(child, &status, 0) != child || status != 0) result = 2;
    if (std::chrono::steady_clock::now() - start > 10s) result = 3;
  }
  ends = true;
  for (std::thread& t : threads) t.join();
  if (!stop_output(60s)) return 4;
  tell_counts();
  return result;
}

int fork_and_rearm() {
  configure(kToLogFile);
  write_lines(100);
#if defined(__SANITIZE_ADDRESS__)
  // AddressSanitizer's allocator does nothing about fork(): where another thread is in it then, its mutex stays locked
  // in the child, and a thread that the child starts hangs before it runs anything of ours. So none may be.
  if (!flush_output(60s)) return 7;
#endif
  pid_t child = fork();
  if (child == 0) {
    log_file += ".child";
    note("child, before it is configured");
    configure(kToLogFile);
    note("child");
    exit(flush_output(60s) ? 0 : 5);
  }
  int status;
  waitpid(child, &status, 0);
  write_lines(1);
  stop_output(60s);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 6;
}

// A stop while the ring is full of lines, and more were refused.
int stop_at_once() {
  configure(kToLogFile);
  write_lines(100'000);
  const bool stopped = stop_output(60s);
  tell_counts();
  return stopped ? 0 : 2;
}

// Programs are started and end, all the time, while two threads write.
int start_programs() {
  configure(kToLogFile);
  std::atomic<bool> ends{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([t, &ends] {
      for (int i = 0; !ends; ++i) {
        note("flood {} {}", t, i);
        if (i % 100 == 0) std::this_thread::sleep_for(1ms);
      }
    });
  }
  int result = 0;
  for (int i = 0; i < 50 && result == 0; ++i) {
    note("program {}", i);
    FILE* program = popen("true", "r");
    if (program == nullptr || pclose(program) != 0) result = 3;
  }
  ends = true;
  for (std::thread& t : threads) t.join();
  note("the last");
  if (!stop_output(60s)) return 4;
  tell_counts();
  return result;
}

// Signals that some function handles, but for those that the C library keeps for itself (32 and 33).
unsigned long long handled_signals() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("SigCgt:")) return std::stoull(line.substr(7), nullptr, 16) & ~(3ull << 31);
  }
  _exit(97);
}

int handlers(unsigned long long at_start) {
  set_ring_bytes(64 * 1024);
  configure(kToLogFile);
  write_lines(1000);
  if (!flush_output(60s) || !stop_output(60s)) return 2;
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
  if (at_start != 0) return 3;  // the library is loaded and has written a line
#endif
  return handled_signals() == at_start ? 0 : 4;
}

// The first process of a container.
int as_process_1() {
  if (unshare(CLONE_NEWPID) != 0) return 77;
  pid_t child = fork();
  if (child == 0) {
    if (getpid() != 1) _exit(3);
    configure(kToLogFile);
    write_lines(1000);
    exit(0);
  }
  int status;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 6;
}

// stderr is a pipe nobody reads, or has left.
int bad_pipe(bool reader_left) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return 9;
  dup2(ends[1], STDERR_FILENO);
  if (reader_left) close(ends[0]);
  configure(kToStderr);
  auto start = std::chrono::steady_clock::now();
  write_lines(50'000);
  auto took = std::chrono::steady_clock::now() - start;
  if (took > 20s) return 2;  // a caller waited
  OutputStatus status = output_status();
  if (reader_left) {
    if (!flush_output(60s)) return 3;
    return output_status().lines_lost > 0 ? 0 : 4;
  }
  if (status.records_dropped == 0) return 5;
  if (stop_output(50ms)) return 6;
  if (std::chrono::steady_clock::now() - start > 30s) return 7;
  return 0;
}

int closed_stderr() {
  close(STDERR_FILENO);
  configure(kToStderr);
  write_lines(10);
  if (!flush_output(60s)) return 2;
  return output_status().lines_lost == 11 ? 0 : 3;
}

// The log file must not get the number of a closed stderr.
int log_file_instead_of_stderr() {
  close(STDERR_FILENO);
  configure(kToLogFile);
  write_lines(1);
  dprintf(STDERR_FILENO, "not for the log file\n");
  return stop_output(60s) ? 0 : 2;
}

}  // namespace

int main(int argc, char** argv) {
  const unsigned long long handled = handled_signals();
  set_thread_name("main");
  set_throttle({.interval = std::chrono::milliseconds{0}});
  std::string_view what = argv[1];
  if (argc > 2) log_file = argv[2];
  if (what == "stop") {
    configure(kToLogFile);
    write_lines(1000);
    return stop_output(60s) ? 0 : 2;
  }
  if (what == "exit") {
    configure(kToLogFile);
    write_lines(1000);
    return 0;
  }
  if (what == "unconfigured") {
    write_lines(3);
    return 0;
  }
  if (what == "fatal" || what == "alert" || what == "emergency") {
    if (!log_file.empty()) configure(kToLogFile);
    write_lines(1000);
    if (what == "fatal") fatal("the {}", "end");
    if (what == "alert") alert("the {}", "end");
    emergency("the {}", "end");
  }
  if (what == "fatal-stuck") return fatal_with_stuck_sink();
#if defined(__SANITIZE_THREAD__)
  if (what == "fork") return forks(5);  // a fork takes long there
#else
  if (what == "fork") return forks(50);
#endif
  if (what == "fork-rearm") return fork_and_rearm();
  if (what == "stop-at-once") return stop_at_once();
  if (what == "programs") return start_programs();
  if (what == "handlers") return handlers(handled);
  if (what == "process-1") return as_process_1();
  if (what == "unread-pipe") return bad_pipe(false);
  if (what == "left-pipe") return bad_pipe(true);
  if (what == "closed-stderr") return closed_stderr();
  if (what == "no-stderr-log") return log_file_instead_of_stderr();
  return 98;
}
