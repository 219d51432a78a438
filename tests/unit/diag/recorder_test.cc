// SPDX-License-Identifier: Apache-2.0
// The flight recorder of processes that die: what they had published is in their directory. child/recorder_child.cc
// is the process; its counters, in a file of the test's own, say what it had published.
#include <catch2/catch.hpp>

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "lib/diag/src/record_log_line.h"
#include "lib/diag/src/recorder_dump.h"
#include "rounds.h"

using namespace telltale::diag;
namespace fs = std::filesystem;

namespace {

constexpr int kThreads = 3;

class Process {
 public:
  Process() {
    char name[] = "/dev/shm/telltale-recorder-test-XXXXXX";
    if (mkdtemp(name) == nullptr) {
      char other[] = "/tmp/telltale-recorder-test-XXXXXX";
      REQUIRE(mkdtemp(other) != nullptr);
      root_ = other;
    } else {
      root_ = name;
    }
  }
  ~Process() {
    if (pid_ > 0) end(SIGKILL);
    fs::remove_all(root_);
  }

  void start(const std::string& scenario) {
    fs::remove(counters_path());
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 2, (root_ + "/err").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addchdir_np(&files, root_.c_str());
    std::string thread_sanitizer = "TSAN_OPTIONS=die_after_fork=0:atexit_sleep_ms=0:report_signal_unsafe=0:handle_segv=0:handle_abort=0",
                address_sanitizer = "ASAN_OPTIONS=detect_leaks=0:handle_segv=0:handle_abort=0", path = "PATH=/usr/bin:/bin";
    char* environment[] = {thread_sanitizer.data(), address_sanitizer.data(), path.data(), nullptr};
    std::string program = TELLTALE_RECORDER_CHILD, what = scenario, in = folder(), counters = counters_path();
    char* arguments[] = {program.data(), what.data(), in.data(), counters.data(), nullptr};
    REQUIRE(posix_spawn(&pid_, program.c_str(), &files, nullptr, arguments, environment) == 0);
    posix_spawn_file_actions_destroy(&files);
  }
  // Exit status, or minus the signal.
  int wait() {
    int status = 0;
    REQUIRE(waitpid(pid_, &status, 0) == pid_);
    pid_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  int run(const std::string& scenario) {
    start(scenario);
    return wait();
  }
  void end(int signal) {
    kill(pid_, signal);
    wait();
  }
  std::vector<std::uint64_t> counters() const {
    std::vector<std::uint64_t> values(kThreads);
    std::ifstream(counters_path(), std::ios::binary).read(reinterpret_cast<char*>(values.data()), kThreads * 8);
    return values;
  }
  void wait_for(std::uint64_t lines) const {
    auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    for (;;) {
      auto values = counters();
      if (*std::min_element(values.begin(), values.end()) >= lines) return;
      if (std::chrono::steady_clock::now() > until) FAIL("the process writes no lines");
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  std::string root() const { return root_; }
  std::string folder() const { return root_ + "/recorder"; }
  std::string current() const { return folder() + "/current"; }
  std::string counters_path() const { return root_ + "/counters"; }
  std::string errors() const {
    std::stringstream text;
    text << std::ifstream(root_ + "/err").rdbuf();
    return text.str();
  }
  pid_t pid() const { return pid_; }

 private:
  std::string root_;
  pid_t pid_ = 0;
};

struct Dumped {
  std::map<std::string, std::vector<std::uint64_t>> floods;  // numbers of "line N of T", by thread
  std::vector<std::string> others;
  std::vector<std::string> problems;
};

Dumped dump(tl::expected<RecorderDump, std::string> from) {
  if (!from) FAIL(from.error());
  Dumped all;
  LogLineWriter writer;
  std::uint64_t last_ticks = 0;
  from->for_each([&](const LogEvent& event) {
    if (event.ticks < last_ticks) FAIL("not in order of time");
    last_ticks = event.ticks;
    std::string line;
    writer.append(line, event, ShowLocation::kNever);
    const auto at = line.find(" line ");
    const std::string thread(event.head.thread);
    if (event.head.origin.tag == "flood" && at != std::string::npos && thread.starts_with("flood-")) {
      all.floods[thread].push_back(std::stoull(line.substr(at + 6)));
      if (line.find("of " + thread.substr(6)) == std::string::npos) FAIL(line);
      if (event.head.transaction != all.floods[thread].back() + 1) FAIL(line);
    } else {
      all.others.push_back(line);
    }
    return true;
  });
  all.problems = from->problems();
  return all;
}

// Each thread's last lines without a gap, up to what it had published at least, and enough of them.
void check_floods(const Dumped& dumped, const std::vector<std::uint64_t>& published, bool died = true) {
  REQUIRE(dumped.floods.size() == kThreads);
  for (const auto& [thread, numbers] : dumped.floods) {
    const std::uint64_t count = published[std::stoul(thread.substr(6))];
    CHECK(numbers.size() > (died ? 1500 : 100));  // of at most about 130 bytes, in 256 KiB
    for (std::size_t i = 1; i < numbers.size(); ++i) {
      if (numbers[i] != numbers[i - 1] + 1) FAIL(thread << ": gap between " << numbers[i - 1] << " and " << numbers[i]);
    }
    CHECK(numbers.back() + 1 >= count);
    if (died) CHECK(numbers.back() + 1 <= count + 1);  // published, not yet counted
  }
}

bool has_line(const Dumped& dumped, const std::string& text) {
  return std::any_of(dumped.others.begin(), dumped.others.end(), [&](const std::string& line) { return line.find(text) != std::string::npos; });
}

}  // namespace

TEST_CASE("recorder: after any death the last lines of every thread are there, up to the last published", "[diag][recorder]") {
  struct Death {
    const char* how;
    int status;
  };
  for (const Death& death : {Death{"kill", -SIGKILL}, Death{"segv", -SIGSEGV}, Death{"malloc", -SIGSEGV}, Death{"abort", -SIGABRT},
                             Death{"_exit", 0}, Death{"exit", 0}}) {
    INFO(death.how);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    if (std::string(death.how) == "malloc") continue;  // which is theirs
#endif
    Process process;
    CHECK(process.run(death.how) == death.status);
    const Dumped dumped = dump(RecorderDump::of_directory(process.folder()));
    check_floods(dumped, process.counters());
    CHECK(dumped.problems.empty());
    CHECK(has_line(dumped, "[main] NOTE the recorder is on"));
    CHECK_FALSE(has_line(dumped, "never recorded"));
    for (const char* text : {"(flood_both) of both", "(flood_nested) inner", "(flood_nested) outer around 7",
                             "(flood_control) by a control 1", "(flood_string) by a string tag"}) {
      const std::string line(text);
      INFO(line);
      CHECK(std::count_if(dumped.others.begin(), dumped.others.end(), [&](const std::string& other) {
              return other.find(line) != std::string::npos;
            }) == 1);
    }
    CHECK_FALSE(has_line(dumped, "before the recorder"));
  }
}

TEST_CASE("recorder: a copied directory tells the same", "[diag][recorder]") {
  Process process;
  REQUIRE(process.run("kill") == -SIGKILL);
  fs::copy(process.current(), process.root() + "/copy");
  fs::remove_all(process.folder());
  check_floods(dump(RecorderDump::of_directory(process.root() + "/copy")), process.counters());
}

TEST_CASE("recorder: a ring that was just being made is no damage", "[diag][recorder]") {
  Process process;
  REQUIRE(process.run("kill") == -SIGKILL);
  std::ofstream(process.current() + "/output-50");
  std::ofstream(process.current() + "/output-51") << std::string(266240, '\0');
  const Dumped dumped = dump(RecorderDump::of_directory(process.folder()));
  CHECK(dumped.problems.empty());
  check_floods(dumped, process.counters());

  std::ofstream(process.current() + "/output-52") << "something else";
  CHECK(dump(RecorderDump::of_directory(process.folder())).problems.size() == 1);
}

TEST_CASE("recorder: is closed to others", "[diag][recorder]") {
  Process process;
  process.start("live");
  process.wait_for(10);
  struct stat is {};
  for (const std::string& directory : {process.folder(), process.current()}) {
    REQUIRE(stat(directory.c_str(), &is) == 0);
    CHECK((is.st_mode & 0777) == 0700);
  }
  std::size_t files = 0;
  for (const auto& file : fs::directory_iterator(process.current())) {
    REQUIRE(stat(file.path().c_str(), &is) == 0);
    CHECK((is.st_mode & 0777) == 0600);
    ++files;
  }
  CHECK(files >= 2 + 1 + kThreads);
}

TEST_CASE("recorder: a live process is read while it writes, without a gap", "[diag][recorder]") {
  Process process;
  process.start("live");
  process.wait_for(20'000);
  for (int i = 0; i < rounds(20); ++i) {
    const auto before = process.counters();
    const Dumped dumped = dump(RecorderDump::of_directory(process.folder()));
    CHECK(dumped.problems.empty());
    check_floods(dumped, before, false);
  }
}

TEST_CASE("recorder: a directory that is copied from a live process shows no torn line", "[diag][recorder]") {
  Process process;
  process.start("live");
  process.wait_for(20'000);
  for (int i = 0; i < rounds(10); ++i) {
    const std::string copy = process.root() + "/copy-" + std::to_string(i);
    fs::copy(process.current(), copy);
    const Dumped dumped = dump(RecorderDump::of_directory(copy));
    for (const auto& [thread, numbers] : dumped.floods) {
      for (std::size_t n = 1; n < numbers.size(); ++n) {
        if (numbers[n] <= numbers[n - 1]) FAIL(thread << ": " << numbers[n] << " behind " << numbers[n - 1]);
      }
    }
  }
}

TEST_CASE("recorder: forked children of a flooding process write nothing into its rings", "[diag][recorder]") {
  Process process;
  REQUIRE(process.run("fork") == -SIGKILL);
  const Dumped dumped = dump(RecorderDump::of_directory(process.folder()));
  check_floods(dumped, process.counters());
  CHECK_FALSE(has_line(dumped, "of a child"));
  CHECK(dumped.problems.empty());
}

TEST_CASE("recorder: former directories are kept, the newest, and one of a living process is not touched", "[diag][recorder]") {
  Process process;
  for (int i = 0; i < 4; ++i) REQUIRE(process.run("kill") == -SIGKILL);
  std::size_t kept = 0;
  for (const auto& entry : fs::directory_iterator(process.folder())) {
    if (entry.path().filename() == "current") continue;
    ++kept;
    check_floods(dump(RecorderDump::of_directory(entry.path())), std::vector<std::uint64_t>(kThreads, 20'000), false);
  }
  CHECK(kept == 2);

  process.start("live");
  process.wait_for(10);
  const auto inode = [&] {
    struct stat is {};
    REQUIRE(stat((process.current() + "/dictionary").c_str(), &is) == 0);
    return is.st_ino;
  };
  const auto before = inode();
  Process second;
  fs::create_directory_symlink(process.folder(), second.root() + "/link");
  std::string program = TELLTALE_RECORDER_CHILD + std::string(" idle ") + process.folder() + " " + second.counters_path() +
                        " 2> " + second.root() + "/err";
  const int status = std::system(program.c_str());
  CHECK(WEXITSTATUS(status) == 5);
  CHECK(second.errors().find("is in use by process " + std::to_string(process.pid())) != std::string::npos);
  CHECK(inode() == before);
}

TEST_CASE("recorder: a folder that others may enter, or that is none, is refused with its name", "[diag][recorder]") {
  Process process;
  fs::create_directory(process.folder());
  fs::permissions(process.folder(), fs::perms(0755));
  CHECK(process.run("kill") == 5);
  CHECK(process.errors().find(process.folder() + " is open to others (mode 0755), expected 0700") != std::string::npos);
  fs::remove_all(process.folder());
  fs::create_directory_symlink("/tmp", process.folder());
  CHECK(process.run("kill") == 5);
  CHECK(process.errors().find(process.folder() + " is not a directory") != std::string::npos);
}

TEST_CASE("recorder: on a full tmpfs rings are private, a warning says so, and the process lives", "[diag][recorder]") {
  Process process;
  fs::create_directory(process.root() + "/recorder");
  const int status = process.run("full");
  if (status == 77) {
    WARN("skipped: a tmpfs cannot be mounted here");
    return;
  }
  CHECK(status == 0);
  CHECK(process.errors().find("cannot be made: No space left on device; this thread's records are in private memory") !=
        std::string::npos);
}

TEST_CASE("recorder: damage anywhere in a directory is survived and told", "[diag][recorder]") {
  Process process;
  REQUIRE(process.run("kill") == -SIGKILL);
  std::mt19937 random(3);
  for (int round = 0; round < 40; ++round) {
    const std::string copy = process.root() + "/damaged";
    fs::remove_all(copy);
    fs::copy(process.current(), copy);
    for (const auto& file : fs::directory_iterator(copy)) {
      if (random() % 5 == 0) fs::resize_file(file.path(), random() % (fs::file_size(file.path()) + 1));
      std::fstream bytes(file.path(), std::ios::in | std::ios::out | std::ios::binary);
      const auto size = fs::file_size(file.path());
      for (unsigned n = random() % 200; n > 0 && size > 0; --n) {
        bytes.seekp(static_cast<std::streamoff>(random() % (random() % 4 == 0 ? std::min<std::uintmax_t>(size, 200) : size)));
        bytes.put(static_cast<char>(random()));
      }
    }
    auto damaged = RecorderDump::of_directory(copy);
    if (!damaged) continue;
    LogLineWriter writer;
    std::string lines;
    damaged->for_each([&](const LogEvent& event) {
      lines.clear();
      writer.append(lines, event, ShowLocation::kAllLines);
      return true;
    });
  }
}

TEST_CASE("recorder: a core file has it all", "[diag][recorder]") {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return;  // their shadow memory would be in it
#endif
  Process process;
  REQUIRE(process.run("core") == -SIGABRT);
  std::string core;
  for (const auto& entry : fs::directory_iterator(process.root())) {
    if (entry.path().filename().string().starts_with("core")) core = entry.path();
  }
  if (core.empty()) {
    WARN("skipped: the kernel writes no core file into the working directory here (core_pattern, ulimit -c)");
    return;
  }
  fs::remove_all(process.folder());
  REQUIRE(RecorderDump::is_core(core));
  const Dumped dumped = dump(RecorderDump::of_core(core));
  check_floods(dumped, process.counters());
  CHECK(has_line(dumped, "[main] NOTE the recorder is on"));

  std::mt19937 random(4);
  for (int round = 0; round < 20; ++round) {
    const std::string copy = process.root() + "/damaged-core";
    fs::copy_file(core, copy, fs::copy_options::overwrite_existing);
    std::fstream bytes(copy, std::ios::in | std::ios::out | std::ios::binary);
    for (int n = 0; n < 40; ++n) {
      bytes.seekp(static_cast<std::streamoff>(random() % 4096));
      bytes.put(static_cast<char>(random()));
    }
    bytes.close();
    auto damaged = RecorderDump::of_core(copy);
    if (damaged) damaged->for_each([](const LogEvent&) { return true; });
  }
}
