// SPDX-License-Identifier: Apache-2.0
// How a process ends and forks, in a process of its own: see child/output_child.cc.
#include <catch2/catch.hpp>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

class Child {
 public:
  Child() {
    char name[] = "/tmp/telltale-process-XXXXXX";
    folder_ = mkdtemp(name);
  }
  ~Child() { std::filesystem::remove_all(folder_); }

  // Runs a scenario to its end; returns its exit status, or minus the signal that ended it.
  int run(const std::string& scenario, bool with_log = true) {
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 1, (folder_ + "/out").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addopen(&files, 2, (folder_ + "/err").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    // ThreadSanitizer would end a forked child that starts a thread; a forked child gives up its parent's state,
    // which AddressSanitizer would call a leak.
    std::string thread_sanitizer = "TSAN_OPTIONS=die_after_fork=0:atexit_sleep_ms=0", address_sanitizer = "ASAN_OPTIONS=detect_leaks=0", path = "PATH=/usr/bin:/bin", log = log_path();
    char* environment[] = {thread_sanitizer.data(), address_sanitizer.data(), path.data(), nullptr};
    std::string program = TELLTALE_OUTPUT_CHILD, what = scenario;
    char* arguments[] = {program.data(), what.data(), with_log ? log.data() : nullptr, nullptr};
    pid_t pid;
    auto start = std::chrono::steady_clock::now();
    REQUIRE(posix_spawn(&pid, program.c_str(), &files, nullptr, arguments, environment) == 0);
    posix_spawn_file_actions_destroy(&files);
    int status;
    REQUIRE(waitpid(pid, &status, 0) == pid);
    took_ = std::chrono::steady_clock::now() - start;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  std::string log_path() const { return folder_ + "/log"; }
  std::vector<std::string> lines(const std::string& name = "log") const {
    std::ifstream in(folder_ + "/" + name);
    std::vector<std::string> all;
    for (std::string line; std::getline(in, line);) all.push_back(line);
    return all;
  }
  // Records written and dropped, as it has counted.
  std::pair<std::uint64_t, std::uint64_t> counts() const {
    std::ifstream out(folder_ + "/out");
    std::uint64_t written = 0, dropped = 0;
    out >> written >> dropped;
    return {written, dropped};
  }
  std::chrono::duration<double> took() const { return took_; }

 private:
  std::string folder_;
  std::chrono::duration<double> took_{};
};

// Lines "line 0" ... in order, from `first` on.
void check_numbered(const std::vector<std::string>& lines, std::size_t first, int n) {
  REQUIRE(lines.size() >= first + static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) {
    if (!lines[first + static_cast<std::size_t>(i)].ends_with("[main] NOTE line " + std::to_string(i))) {
      FAIL(lines[first + static_cast<std::size_t>(i)]);
    }
  }
}

}  // namespace

TEST_CASE("process: after a thousand lines and a stop all are on file, those before main() first", "[diag][process]") {
  Child child;
  REQUIRE(child.run("stop") == 0);
  std::vector<std::string> lines = child.lines();
  REQUIRE(lines.size() == 1001);
  CHECK(lines[0].find("NOTE from a static constructor") != std::string::npos);
  check_numbered(lines, 1, 1000);
  CHECK(child.lines("err").empty());
}

TEST_CASE("process: exit() without a stop puts all on file, those of static destructors too", "[diag][process]") {
  Child child;
  REQUIRE(child.run("exit") == 0);
  std::vector<std::string> lines = child.lines();
  REQUIRE(lines.size() == 1002);
  check_numbered(lines, 1, 1000);
  CHECK(lines.back().ends_with("NOTE from a static destructor"));
}

TEST_CASE("process: one that never configured output gets its lines on stderr at its end", "[diag][process]") {
  Child child;
  REQUIRE(child.run("unconfigured") == 0);
  std::vector<std::string> lines = child.lines("err");
  REQUIRE(lines.size() == 5);
  check_numbered(lines, 1, 3);
}

TEST_CASE("process: fatal, alert and emergency write all lines first, then end it with a status each (AC-47)",
          "[diag][process]") {
  struct End {
    const char* what;
    const char* word;
    int status;
  };
  for (const End& end : {End{"fatal", "FATAL", 70}, End{"alert", "ALERT", 71}, End{"emergency", "EMERGENCY", 72}}) {
    Child child;
    CHECK(child.run(end.what) == end.status);
    std::vector<std::string> lines = child.lines();
    REQUIRE(lines.size() == 1002);
    check_numbered(lines, 1, 1000);
    CHECK(lines.back().ends_with(std::string("[main] ") + end.word + " the end"));
  }
}

TEST_CASE("process: fatal before output is configured writes to stderr", "[diag][process]") {
  Child child;
  CHECK(child.run("fatal", false) == 70);
  std::vector<std::string> lines = child.lines("err");
  REQUIRE(lines.size() == 1002);
  CHECK(lines.back().ends_with("FATAL the end"));
}

TEST_CASE("process: fatal ends it although a sink never returns", "[diag][process]") {
  Child child;
  CHECK(child.run("fatal-stuck") == 70);
  CHECK(child.took() >= std::chrono::milliseconds(900));
  CHECK(child.took() < std::chrono::seconds(20));
}

TEST_CASE("process: forked children of a flooding parent end at once, and no line is there twice (B77)", "[diag][process]") {
  Child child;
  REQUIRE(child.run("fork") == 0);
  const auto [written, dropped] = child.counts();
  std::set<std::string> seen;
  std::uint64_t kept = 0;
  std::map<int, int> last;
  for (const std::string& line : child.lines()) {
    if (line.find("lost here") != std::string::npos) continue;
    if (line.find("in the child") != std::string::npos) FAIL(line);
    std::string text = line.substr(line.find("] NOTE ") + 7);
    if (!seen.insert(text).second) FAIL("twice: " << line);
    int t, i;
    if (sscanf(text.c_str(), "parent %d %d", &t, &i) == 2) {
      auto [it, first] = last.emplace(t, i);
      if (!first && i <= it->second) FAIL("out of order: " << line);
      it->second = i;
    }
    ++kept;
  }
  CHECK(kept == written);
  CHECK(written + dropped > 5);
}

TEST_CASE("process: a forked child that configures output writes its own lines, not the parent's", "[diag][process]") {
  Child child;
  REQUIRE(child.run("fork-rearm") == 0);
  std::vector<std::string> own = child.lines("log.child"), parent = child.lines();
  REQUIRE(own.size() >= 2);
  CHECK(own[0].ends_with("NOTE child, before it is configured"));
  CHECK(own[1].ends_with("NOTE child"));
  REQUIRE(parent.size() == 102);
  check_numbered(parent, 1, 100);
}

TEST_CASE("process: of 100,000 lines and a stop at once, each is on file or is told of as lost (B81)", "[diag][process]") {
  Child child;
  REQUIRE(child.run("stop-at-once") == 0);
  const auto [written, dropped] = child.counts();
  CHECK(written + dropped == 100'001);  // with that of the static constructor
  std::uint64_t kept = 0, lost = 0;
  int last = -1;
  for (const std::string& line : child.lines()) {
    int i = 0;
    const std::string text = line.substr(line.find("] ", line.find("] ") + 2) + 2);
    if (sscanf(text.c_str(), "NOTE line %d", &i) == 1) {
      if (i <= last) FAIL(line);
      last = i;
      ++kept;
    } else if (sscanf(text.c_str(), "WARNING (diag) %d note lines lost here", &i) == 1) {
      lost += static_cast<std::uint64_t>(i);
    }
  }
  CHECK(kept == written - 1);
  CHECK(lost == dropped);
}

TEST_CASE("process: while programs are started and end, lines go on (B79)", "[diag][process]") {
  Child child;
  REQUIRE(child.run("programs") == 0);
  const auto [written, dropped] = child.counts();
  const std::vector<std::string> lines = child.lines();
  auto count = [&lines](const std::string& part) {
    return std::count_if(lines.begin(), lines.end(), [&](const std::string& l) { return l.find(part) != std::string::npos; });
  };
  CHECK(count("NOTE program ") == 50);
  // Of a flood some may be lost, which is told.
  CHECK(lines.size() - static_cast<std::size_t>(count("lost here")) == written);
  CHECK((dropped == 0) == (count("lost here") == 0));
  REQUIRE_FALSE(lines.empty());
  CHECK(lines.back().ends_with("NOTE the last"));
}

TEST_CASE("process: the library handles no signal, whatever it does", "[diag][process]") {
  Child child;
  CHECK(child.run("handlers") == 0);
}

TEST_CASE("process: as the first process of a container it writes all lines and ends", "[diag][process]") {
  Child child;
  const int status = child.run("process-1");
  if (status == 77) {
    WARN("skipped: a namespace of processes cannot be made here");
    return;
  }
  REQUIRE(status == 0);
  std::vector<std::string> lines = child.lines();
  REQUIRE(lines.size() >= 1000);
  check_numbered(lines, 0, 1000);
}

TEST_CASE("process: a stderr nobody reads makes no caller wait, and stop returns by its deadline (B37)", "[diag][process]") {
  Child child;
  CHECK(child.run("unread-pipe") == 0);
}

TEST_CASE("process: a stderr whose reader has left costs lines, not the process", "[diag][process]") {
  Child child;
  CHECK(child.run("left-pipe") == 0);
}

TEST_CASE("process: a closed stderr costs lines, counted", "[diag][process]") {
  Child child;
  CHECK(child.run("closed-stderr") == 0);
}

TEST_CASE("process: the log file never takes the number of a closed stderr", "[diag][process]") {
  Child child;
  CHECK(child.run("no-stderr-log") == 0);
  for (const std::string& line : child.lines()) CHECK(line.find("not for the log file") == std::string::npos);
}
