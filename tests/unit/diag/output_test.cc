// SPDX-License-Identifier: Apache-2.0
// The backend and its sinks: routes, order, live changes, files.
#include <catch2/catch.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <random>
#include <regex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <telltale/diag/dbg.h>
#include <telltale/diag/debug_control.h>
#include <telltale/diag/level.h>
#include <telltale/diag/output.h>
#include <telltale/diag/scope.h>

#include "debug_state.h"
#include "lib/diag/src/stream_sink.h"
#include "output_capture.h"
#include "temporary_folder.h"

using namespace telltale::diag;

namespace {

constexpr DbgCtl out_dbg{"out_test"};

std::string read_file(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}
std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream in(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

OutputConfig all_to(std::uint8_t routes, std::string log_file = {}) {
  OutputConfig config;
  config.routes.fill(routes);
  config.log_file = std::move(log_file);
  return config;
}

// stdout or stderr leads elsewhere for a while.
class Redirected {
 public:
  Redirected(int fd, const std::string& path, int flags) : fd_(fd), saved_(dup(fd)) {
    int file = open(path.c_str(), O_WRONLY | O_CREAT | flags, 0600);
    dup2(file, fd);
    close(file);
  }
  ~Redirected() {
    dup2(saved_, fd_);
    close(saved_);
  }

 private:
  int fd_, saved_;
};

std::uint64_t checksum(std::string_view text) {
  std::uint64_t sum = 14695981039346656037u;
  for (unsigned char c : text) sum = (sum ^ c) * 1099511628211u;
  return sum;
}

}  // namespace

TEST_CASE("output: a debug line looks as documented, with ids, plugin and field", "[diag][output]") {
  CleanDebug clean;
  Capture capture;
  REQUIRE(set_base({Mode::kOn, "out_test", ""}));
  Context context;
  context.connection = 12;
  context.transaction = 345;
  context.plugin = plugin_number("header_note");
  std::thread([&] {
    set_thread_name("worker-0");
    Scope scope(&context);
    Dbg(out_dbg, "asked for {}", "/x", field("status", 200));
    note("in scope");
  }).join();
  note("out of scope");
  std::vector<std::string> lines = capture.lines();
  REQUIRE(lines.size() == 3);
  const std::string time = "\\[20\\d\\d-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{6}Z\\] ";
  INFO(lines[0]);
  CHECK(std::regex_match(lines[0], std::regex(time + "\\[worker-0\\] DEBUG \\(out_test\\) <[^ <>]*output_test\\.cc:\\d+ "
                                                     "\\([^()]+\\)> \\{c12 t345 header_note\\} asked for /x status=200")));
  CHECK(std::regex_match(lines[1], std::regex(time + "\\[worker-0\\] NOTE \\{c12 t345 header_note\\} in scope")));
  CHECK(std::regex_match(lines[2], std::regex(time + "\\[[^\\]]+\\] NOTE out of scope")));
}

TEST_CASE("output: the time printed is the time of the call", "[diag][output]") {
  Capture capture;
  auto micros = [] {
    return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  };
  for (int i = 0; i < 20; ++i) {
    auto before = micros();
    note("now");
    auto after = micros();
    std::string line = capture.lines().at(0);
    std::tm utc{};
    strptime(line.c_str(), "[%Y-%m-%dT%H:%M:%S", &utc);
    long long printed = timegm(&utc) * 1'000'000LL + std::stoll(line.substr(21, 6));
    CHECK(printed >= before - 50);  // of the interpolation
    CHECK(printed <= after + 50);
  }
}

TEST_CASE("output: plugin numbers are one per name, for good", "[diag][output]") {
  std::uint32_t a = plugin_number("plugin_a"), b = plugin_number("plugin_b");
  CHECK(a != 0);
  CHECK(a != b);
  CHECK(plugin_number("plugin_a") == a);
  // More of them than the backend remembers at once.
  Capture capture;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 100; ++i) {
      std::string name = "numbered_" + std::to_string(i);
      Context context;
      context.plugin = plugin_number(name);
      Scope scope(&context);
      note("{}", name);
    }
  }
  std::vector<std::string> lines = capture.lines();
  REQUIRE(lines.size() == 200);
  for (int i = 0; i < 200; ++i) {
    std::string name = "numbered_" + std::to_string(i % 100);
    CHECK(lines[i].ends_with("{" + name + "} " + name));
  }
}

TEST_CASE("output: each level goes where its route says", "[diag][output]") {
  Capture capture;
  TemporaryFolder folder;
  OutputConfig config = all_to(kToExtra, folder / "log");
  config.routes[std::size_t(Level::kNote)] = kToLogFile;
  config.routes[std::size_t(Level::kWarning)] = kToLogFile | kToExtra;
  config.routes[std::size_t(Level::kError)] = 0;
  REQUIRE(configure_output(config));
  status("s");
  note("n");
  warning("w");
  error("e");
  std::vector<std::string> extra = capture.lines(), log = lines_of(folder / "log");
  REQUIRE(extra.size() == 2);
  CHECK(extra[0].ends_with("STATUS s"));
  CHECK(extra[1].ends_with("WARNING w"));
  REQUIRE(log.size() == 2);
  CHECK(log[0].ends_with("NOTE n"));
  CHECK(log[1].ends_with("WARNING w"));
  struct stat s;
  REQUIRE(stat((folder / "log").c_str(), &s) == 0);
  CHECK((s.st_mode & 0777) == 0600);
}

TEST_CASE("output: a change takes effect between two lines, nothing is lost or doubled", "[diag][output]") {
  Capture capture;
  TemporaryFolder folder;
  std::vector<std::string> paths;
  for (const char* name : {"a", "b", "c"}) paths.push_back(folder / name);
  constexpr int kChanges = 60, kLines = 50;
  for (int change = 0; change < kChanges; ++change) {
    REQUIRE(configure_output(all_to(kToLogFile, paths[change % 3])));
    for (int i = 0; i < kLines; ++i) note("{} {}", change, i);
    if (change % 8 == 7) flush_output(kLongEnough);  // kChangesMax may wait at once
  }
  REQUIRE(flush_output(kLongEnough));
  for (int file = 0; file < 3; ++file) {
    std::vector<std::string> lines = lines_of(paths[file]);
    REQUIRE(lines.size() == kChanges / 3 * kLines);
    std::size_t at = 0;
    for (int change = file; change < kChanges; change += 3) {
      for (int i = 0; i < kLines; ++i) {
        if (!lines[at].ends_with("NOTE " + std::to_string(change) + " " + std::to_string(i))) FAIL(lines[at]);
        ++at;
      }
    }
  }
}

TEST_CASE("output: a blocked backend does not make a change wait, and takes only so many", "[diag][output]") {
  Capture capture;
  capture.hold([] { note("held"); });
  int taken = 0;
  while (configure_output(all_to(kToExtra))) ++taken;
  CHECK(taken == 16);
  auto refused = configure_output(all_to(kToExtra));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().find("blocked") != std::string::npos);
  capture.release();
  note("goes on");
  CHECK(capture.lines().size() == 2);
  CHECK(configure_output(all_to(kToExtra)));
}

TEST_CASE("output: a log file that cannot be opened is refused with path and reason, and changes nothing", "[diag][output]") {
  Capture capture;
  auto refused = configure_output(all_to(kToLogFile, "/nonexistent/folder/log"));
  REQUIRE_FALSE(refused);
  CHECK(refused.error() == "log file /nonexistent/folder/log cannot be opened: No such file or directory");
  CHECK_FALSE(configure_output(all_to(kToLogFile)));
  note("still here");
  CHECK(capture.lines().size() == 1);
}

TEST_CASE("output: routes that are the same file write a line once (AC-32)", "[diag][output]") {
  Capture capture;
  TemporaryFolder folder;
  std::string path = folder / "log";
  {
    // Not even appending: a shell's 2>diags.log.
    Redirected to_file(STDERR_FILENO, path, O_TRUNC);
    Redirected also(STDOUT_FILENO, path, O_APPEND);
    REQUIRE(configure_output(all_to(kToLogFile | kToStderr | kToStdout, path)));
    note("once");
    OutputConfig apart = all_to(kToLogFile, path);
    apart.routes[std::size_t(Level::kWarning)] = kToStderr;
    apart.routes[std::size_t(Level::kError)] = kToStdout | kToStderr;
    REQUIRE(configure_output(apart));
    note("file");
    warning("stderr");
    error("both");
    note("file again");
    REQUIRE(configure_output(all_to(kToExtra)));
    flush_output(kLongEnough);
  }
  {
    Redirected appending(STDERR_FILENO, path, O_APPEND);
    Redirected also(STDOUT_FILENO, path, O_APPEND);
    REQUIRE(configure_output(all_to(kToStdout | kToStderr)));
    note("no log file");
    REQUIRE(configure_output(all_to(kToExtra)));
    flush_output(kLongEnough);
  }
  std::string text = read_file(path);
  for (const char* what : {"NOTE once", "NOTE file\n", "WARNING stderr", "ERROR both", "NOTE file again", "NOTE no log file"}) {
    std::size_t at = text.find(what);
    INFO(text);
    CHECK(at != std::string::npos);
    CHECK(text.find(what, at + 1) == std::string::npos);
  }
  CHECK(std::count(text.begin(), text.end(), '\n') == 6);
}

TEST_CASE("output: descriptors 0 to 2 are never closed (AC-33)", "[diag][output]") {
  Capture capture;
  TemporaryFolder folder;
  struct stat before[3], after;
  for (int fd = 0; fd < 3; ++fd) REQUIRE(fstat(fd, &before[fd]) == 0);
  for (int i = 0; i < 50; ++i) {
    REQUIRE(configure_output(all_to(i % 2 != 0 ? kToLogFile : kToExtra, i % 2 != 0 ? folder / "log" : "")));
    note("{}", i);
    flush_output(kLongEnough);
  }
  for (int fd = 0; fd < 3; ++fd) {
    REQUIRE(fstat(fd, &after) == 0);
    CHECK(after.st_ino == before[fd].st_ino);
  }
}

TEST_CASE("output: a full disk costs the lines, counted, and is told once there is room", "[diag][output]") {
  Capture capture;
  OutputStatus before = output_status();
  OutputConfig full = all_to(kToLogFile | kToExtra, "/dev/full");
  REQUIRE(configure_output(full));
  for (int i = 0; i < 10; ++i) {
    note("{}", i);
    flush_output(kLongEnough);
  }
  OutputStatus after = output_status();
  CHECK(after.lines_lost - before.lines_lost == 10);
  CHECK(after.sink_errors - before.sink_errors == 10);
  CHECK(capture.lines().size() == 10 + 1);  // and one that says so
}

TEST_CASE("output: a sink that refuses is counted and told of when it takes lines again", "[diag][output]") {
  struct Moody : Sink {
    std::atomic<bool> takes{false};
    std::string text;  // the backend's; read after a flush
    bool write(std::string_view lines) noexcept override {
      if (takes) text += lines;
      return takes;
    }
  };
  Capture capture;
  auto moody = std::make_shared<Moody>();
  set_extra_sink(moody);
  note("a");
  note("b");
  REQUIRE(flush_output(kLongEnough));
  moody->takes = true;
  note("c");
  REQUIRE(flush_output(kLongEnough));
  std::istringstream in(moody->text);
  std::string first, second;
  std::getline(in, first);
  std::getline(in, second);
  CHECK(first.find("[diag] WARNING (diag) 2 lines lost here: extra sink: refused by the sink") != std::string::npos);
  CHECK(second.ends_with("NOTE c"));
}

TEST_CASE("StreamSink: a write that stops half-way loses whole lines and ends the torn one later", "[diag][output]") {
  int ends[2];
  REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
  REQUIRE(fcntl(ends[1], F_SETPIPE_SZ, 4096) == 4096);
  signal(SIGPIPE, SIG_IGN);
  std::string read_back;
  {
    StreamSink sink(ends[1], true);
    std::string lines;
    while (lines.size() < 9000) lines += "a line of some length " + std::to_string(lines.size()) + "\n";
    // The reader takes one pipe full and goes.
    std::uint64_t lost = 0;
    std::thread writer([&] { lost = sink.write(lines); });
    read_back.resize(4096);
    std::size_t got = 0;
    while (got < read_back.size()) {
      ssize_t n = read(ends[0], read_back.data() + got, read_back.size() - got);
      REQUIRE(n > 0);
      got += static_cast<std::size_t>(n);
    }
    close(ends[0]);
    writer.join();
    CHECK(lost > 0);
    CHECK(lost < static_cast<std::uint64_t>(std::count(lines.begin(), lines.end(), '\n')));
    CHECK(sink.error() == EPIPE);
    CHECK(sink.write("one\ntwo\n") == 2);
  }
  signal(SIGPIPE, SIG_DFL);
}

TEST_CASE("StreamSink: waits for a descriptor somebody made non-blocking", "[diag][output]") {
  int ends[2];
  REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
  fcntl(ends[1], F_SETFL, O_NONBLOCK);
  std::string lines(1 << 20, 'x'), got;
  lines.back() = '\n';
  std::thread reader([&] {
    char buffer[4096];
    while (got.size() < lines.size()) {
      ssize_t n = read(ends[0], buffer, sizeof buffer);
      if (n <= 0) break;
      got.append(buffer, static_cast<std::size_t>(n));
    }
  });
  StreamSink sink(ends[1], true);
  CHECK(sink.write(lines) == 0);
  reader.join();
  CHECK(got == lines);
  close(ends[0]);
}

TEST_CASE("StreamSink: a closed descriptor is an error, not an end", "[diag][output]") {
  StreamSink sink(1000, false);
  CHECK(sink.write("one\ntwo\n") == 2);
  CHECK(sink.error() == EBADF);
  CHECK(sink.write("") == 0);
}

TEST_CASE("output: order within a thread is exact, between threads it follows the time", "[diag][output]") {
  Capture capture;
  constexpr int kLines = 20'000;
  auto write = [](int who) {
    for (int i = 0; i < kLines; ++i) {
      note("{} {}", who, i);
      if (i % 500 == 0) std::this_thread::yield();
    }
  };
  OutputStatus before = output_status();
  std::thread a(write, 0), b(write, 1);
  a.join();
  b.join();
  std::vector<std::string> lines = capture.lines();
  OutputStatus after = output_status();
  int last[2] = {-1, -1}, kept = 0, back = 0;
  std::string last_time;
  for (const std::string& line : lines) {
    std::string time = line.substr(0, 29);
    if (time < last_time) ++back;
    last_time = time;
    int who, i;
    std::size_t at = line.find("NOTE ");
    if (at == std::string::npos || sscanf(line.c_str() + at, "NOTE %d %d", &who, &i) != 2) continue;
    if (i <= last[who]) FAIL("line " << i << " behind " << last[who]);
    last[who] = i;
    ++kept;
  }
  CHECK(static_cast<std::uint64_t>(kept) == after.records_written - before.records_written);
  CHECK(kept + after.records_dropped - before.records_dropped == 2 * kLines);
  // A thread may be preempted between its stamp and its publishing, for longer than the grace.
  CHECK(back <= kept / 100);
}

TEST_CASE("output: lines of 16 threads and of any length stay whole and in order (AC-26)", "[diag][output]") {
  Capture capture;
  TemporaryFolder folder;
  REQUIRE(configure_output(all_to(kToLogFile, folder / "log")));
  constexpr int kThreads = 16, kLines = 10'000;
  OutputStatus before = output_status();
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([t] {
      std::mt19937 random(static_cast<unsigned>(t));
      std::string body;
      for (int i = 0; i < kLines; ++i) {
        body.assign(1 + random() % (i % 50 == 0 ? 900 : 60), static_cast<char>('a' + t));
        note("{} {} {} {}", t, i, body, checksum(body));
      }
    });
  }
  for (std::thread& t : threads) t.join();
  REQUIRE(flush_output(kLongEnough));
  OutputStatus after = output_status();
  std::map<int, int> last;
  std::uint64_t kept = 0, markers = 0;
  for (const std::string& line : lines_of(folder / "log")) {
    std::size_t at = line.find("] NOTE ");
    if (at == std::string::npos) {
      if (line.find("lost here: the ring was full") == std::string::npos) FAIL(line);
      ++markers;
      continue;
    }
    std::istringstream in(line.substr(at + 7));
    int t, i;
    std::string body;
    std::uint64_t sum;
    in >> t >> i >> body >> sum;
    if (!in || sum != checksum(body) || body[0] != 'a' + t) FAIL("torn: " << line);
    auto [it, first] = last.emplace(t, i);
    if (!first && i <= it->second) FAIL("out of order: " << line);
    it->second = i;
    ++kept;
  }
  CHECK(kept == after.records_written - before.records_written);
  CHECK(kept + after.records_dropped - before.records_dropped == kThreads * kLines);
  CHECK(after.lines_written - before.lines_written == kept + markers);
}

TEST_CASE("output: a sink may write lines and may not flush", "[diag][output]") {
  struct Talker : Sink {
    int said = 0;
    bool flushed = true, stopped = true;
    bool write(std::string_view) noexcept override {
      if (said++ == 0) {
        note("from the sink");
        flushed = flush_output(kLongEnough);
        stopped = stop_output(kLongEnough);
      }
      return true;
    }
  };
  Capture capture;
  auto talker = std::make_shared<Talker>();
  set_extra_sink(talker);
  note("to the sink");
  REQUIRE(flush_output(kLongEnough));
  REQUIRE(flush_output(kLongEnough));
  CHECK(talker->said == 2);
  CHECK_FALSE(talker->flushed);
  CHECK_FALSE(talker->stopped);
}

TEST_CASE("output: flush says what it could not do by its deadline", "[diag][output]") {
  Capture capture;
  capture.hold([] { note("held"); });
  note("waits");
  CHECK_FALSE(flush_output(std::chrono::milliseconds(0)));
  capture.release();
  CHECK(flush_output(kLongEnough));
}

TEST_CASE("output: after a stop lines wait in the rings and go out when output starts again", "[diag][output]") {
  Capture capture;
  note("before");
  REQUIRE(stop_output(kLongEnough));
  CHECK(stop_output(kLongEnough));
  note("meanwhile");
  CHECK_FALSE(flush_output(kLongEnough));
  REQUIRE(configure_output(all_to(kToExtra)));
  note("after");
  std::vector<std::string> lines = capture.lines();
  REQUIRE(lines.size() == 3);
  CHECK(lines[1].ends_with("meanwhile"));
}

TEST_CASE("output: stop under a flood ends with what was written before it", "[diag][output]") {
  Capture capture;
  std::atomic<bool> ends{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      while (!ends) note("flood");
    });
  }
  note("before the stop");
  CHECK(stop_output(kLongEnough));
  ends = true;
  for (std::thread& t : threads) t.join();
  REQUIRE(configure_output(all_to(kToExtra)));
  CHECK(capture.text().find("before the stop") != std::string::npos);
}

TEST_CASE("output: stop returns by its deadline although a sink blocks, and happens later", "[diag][output]") {
  Capture capture;
  capture.hold([] { note("held"); });
  note("before the stop");
  CHECK_FALSE(stop_output(std::chrono::milliseconds(1)));
  capture.release();
  CHECK(stop_output(kLongEnough));
  REQUIRE(configure_output(all_to(kToExtra)));
  CHECK(capture.lines().size() == 2);
}
