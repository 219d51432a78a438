// SPDX-License-Identifier: Apache-2.0
// Detached threads log while main returns, static destructors and an atexit handler log too: the process
// ends with status 0, many times over. Sanitizer builds report what a plain run would survive by luck.
#include <spawn.h>
#include <sys/wait.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include <telltale/diag/dbg.h>
#include <telltale/diag/debug_control.h>
#include <telltale/diag/output.h>

extern char** environ;

namespace {

namespace diag = telltale::diag;

constexpr DbgCtl exit_dbg{"exit"};
constexpr int kThreads = 8;
constexpr int kRuns = 20;

struct Static {
  diag::RuntimeControl control{"exit_control"};
  Static() { Dbg(exit_dbg, "static constructor"); }
  ~Static() {
    Dbg(exit_dbg, "static destructor {}", control.on());
    diag::RuntimeControl late("exit_late");
    if (late.on() && diag::string_tag_wanted("exit_string", false)) Dbg(exit_dbg, "static destructor, again");
  }
};
Static at_exit;

std::atomic<int> logging{0};

[[noreturn]] void log_for_ever() {
  for (int i = 0;; ++i) {
    Dbg(exit_dbg, "still here {}", i);
    if (diag::string_tag_wanted("exit_string", false)) Dbg(exit_dbg, "by name {}", i);
    if (i == 0) logging.fetch_add(1);
    if (i % 64 == 0) diag::RuntimeControl passing("exit_passing");
  }
}

int log_and_return() {
  diag::OutputConfig nowhere;
  nowhere.routes[static_cast<std::size_t>(diag::Level::kDebug)] = 0;
  if (!diag::configure_output(nowhere)) return 2;
  if (!diag::set_base({diag::Mode::kOn, "exit", ""})) return 3;
  std::atexit([] { Dbg(exit_dbg, "atexit handler"); });
  for (int i = 0; i < kThreads; ++i) std::thread(log_for_ever).detach();
  while (logging.load() < kThreads) std::this_thread::yield();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "once") == 0) return log_and_return();
  for (int run = 0; run < kRuns; ++run) {
    char once[] = "once";
    char* arguments[] = {argv[0], once, nullptr};
    pid_t child = 0;
    int status = 0;
    if (posix_spawn(&child, argv[0], nullptr, nullptr, arguments, environ) != 0 || waitpid(child, &status, 0) != child) return 2;
    if (status != 0) {
      std::fprintf(stderr, "run %d of %d ended with status %d, signal %d\n", run, kRuns, WEXITSTATUS(status), WTERMSIG(status));
      return 1;
    }
  }
  return 0;
}
