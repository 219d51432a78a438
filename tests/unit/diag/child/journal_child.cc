// SPDX-License-Identifier: Apache-2.0
// A process that logs to a journald: the library without the daemon. First argument: the socket; second: the scenario.
// tests/e2e/test_journald.py drives it.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include <telltale/diag/dbg.h>
#include <telltale/diag/debug_control.h>
#include <telltale/diag/level.h>
#include <telltale/diag/output.h>
#include <telltale/diag/scope.h>
#include <telltale/diag/throttle.h>

using namespace telltale::diag;
using namespace std::chrono_literals;
using namespace std::string_view_literals;

// A value that is formatted at the call and may be as large as a record holds.
struct Large {
  std::size_t bytes;
};
template <>
inline constexpr std::size_t telltale::diag::eager_bytes_max<Large> = 60'000;
template <>
struct fmt::formatter<Large> : fmt::formatter<std::string_view> {
  auto format(const Large& large, format_context& context) const {
    auto out = context.out();
    for (std::size_t i = 0; i + 1 < large.bytes; ++i) *out++ = 'x';
    *out++ = '!';
    return out;
  }
};

namespace {

constexpr DbgCtl child_dbg{"journal_child"};

void configure(const std::string& socket, Route route = kToJournald) {
  set_throttle({.interval = 0ms});
  OutputConfig config;
  config.routes.fill(route);
  config.stderr_to_journal = true;
  config.journald_socket = socket;
  config.identifier = "journal-child";
  if (auto done = configure_output(config); !done) {
    std::fprintf(stderr, "%s\n", done.error().c_str());
    _exit(2);
  }
  if (!set_base({Mode::kOn, "journal_child", ""})) _exit(3);
}

// A record with each kind of value, in a scope, and one of each level.
void matrix() {
  Context context;
  context.connection = 12;
  context.transaction = 345;
  context.plugin = plugin_number("header_note");
  Scope scope(&context);
  Dbg(child_dbg, "matrix {}", "a=b\tc", field("number", -7), field("most", std::numeric_limits<std::uint64_t>::max()),
      field("real", 0.1), field("yes", true), field("text", "a\0b\x1b[31m\r\xff="sv), field("two-words", "x\ny"));
  status("of level status");
  note("of level note");
  warning("of level warning");
  error("of level error");
}

// Messages of many lengths, each with a mark at its end.
void sizes() {
  for (std::size_t bytes : {1u, 2039u, 2040u, 2041u, 2048u, 2049u, 4096u, 48u * 1024, 60'000u}) Dbg(child_dbg, "{}", Large{bytes});
  Dbg(child_dbg, "{}", Large{61'000});
}

void in_a_child(const std::string& socket) {
  Dbg(child_dbg, "of the parent");
  flush_output(10s);
  pid_t child = fork();
  if (child == 0) {
    configure(socket);
    Dbg(child_dbg, "of the child");
    _exit(flush_output(10s) ? 0 : 4);
  }
  int status = 0;
  waitpid(child, &status, 0);
  std::printf("%d %d\n", getpid(), child);
}

// What is for stderr, by two configurations.
void to_stderr(const std::string& socket) {
  for (int i = 1; i <= 2; ++i) {
    configure(socket, kToStderr);
    status("line {} for stderr", i);
    flush_output(10s);
  }
}

// As many as wanted, without waiting; what became of them on stdout.
void flood(std::uint64_t lines) {
  const auto start = std::chrono::steady_clock::now();
  for (std::uint64_t i = 0; i < lines; ++i) Dbg(child_dbg, "line {} of {}", i, "host-001.example.com"sv, field("status", 200));
  flush_output(60s);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  settle_output(10s);
  const OutputStatus status = output_status();
  std::uint64_t sent = 0, dropped = 0;
  for (const SinkState& sink : status.sinks) {
    for (const SinkCount& count : sink.counts) {
      if (count.name == "sent") sent = count.count;
      if (count.name == "dropped") dropped = count.count;
    }
  }
  std::printf("produced %llu sent %llu dropped %llu by_rings %llu lines_per_s %.0f\n", static_cast<unsigned long long>(lines),
              static_cast<unsigned long long>(sent), static_cast<unsigned long long>(dropped),
              static_cast<unsigned long long>(status.records_dropped), static_cast<double>(sent) / took.count());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 1;
  const std::string socket = argv[1];
  const std::string_view scenario = argv[2];
  set_ring_bytes(16 << 20);
  if (scenario == "stderr") {
    to_stderr(socket);
    return 0;
  }
  configure(socket);
  if (scenario == "matrix") matrix();
  if (scenario == "sizes") sizes();
  if (scenario == "fork") in_a_child(socket);
  if (scenario == "flood" && argc == 4) flood(std::strtoull(argv[3], nullptr, 10));
  return flush_output(10s) ? 0 : 5;
}
