// SPDX-License-Identifier: Apache-2.0
// The way to journald: what is too large, who is not there, who does not read, and who comes back.
#include <catch2/catch.hpp>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <set>
#include <string>

#include "lib/diag/src/journal_encoder.h"
#include "lib/diag/src/journal_sender.h"
#include "tests/support/journal_receiver.h"
#include "tests/unit/diag/allocation_counter.h"
#include "tests/unit/diag/temporary_folder.h"

using namespace telltale::diag;
using namespace std::chrono_literals;
using telltale::test::JournalReceiver;

namespace {

// A journald that can be there or not, a sender to it, and the sender's clock.
struct Journal {
  TemporaryFolder folder;
  std::string path = folder / "socket";
  std::unique_ptr<JournalReceiver> receiver;
  JournalSender sender = *JournalSender::open(path);
  JournalSender::Clock::time_point now{1000s};
  std::uint64_t calls = 0;

  void begin() { receiver = std::make_unique<JournalReceiver>(path); }
  void die() { receiver.reset(); }
  void vanish() {
    receiver.reset();
    ::unlink(path.c_str());
  }
  bool send(std::string_view message = "m") {
    ++calls;
    return sender.send(encoder.encode({.message = message}), now);
  }
  std::string message() {
    auto entries = receiver->take();
    return entries ? entries->front().value("MESSAGE") : entries.error();
  }
  std::string notice() { return sender.take_notice(now).value_or("(none)"); }
  // What holds always.
  bool all_counted() const {
    const JournalCounters& c = sender.counters();
    return c.sent + c.dropped == calls && c.memfd <= c.sent && c.absent + c.refused <= c.dropped;
  }

  JournalEncoder encoder;
};

std::string refusal_of(std::string_view path) {
  auto sender = JournalSender::open(path);
  return sender ? "(none)" : sender.error();
}

}  // namespace

TEST_CASE("journal: what cannot be a socket's path is refused, and named", "[diag][journal]") {
  std::string longest(107, 'x'), longer(108, 'x');
  longest[0] = longer[0] = '/';
  CHECK(refusal_of(longest) == "(none)");
  CHECK(refusal_of(longer).find("expected an absolute path of at most 107 bytes") != std::string::npos);
  CHECK(refusal_of("run/socket").find("\"run/socket\"") != std::string::npos);
  CHECK(refusal_of("") != "(none)");
  CHECK(refusal_of(std::string_view("/a\0b", 4)) != "(none)");
}

TEST_CASE("journal: entries arrive whole and in order", "[diag][journal]") {
  Journal j;
  j.begin();
  for (int i = 0; i < 5; ++i) CHECK(j.send("number " + std::to_string(i)));
  for (int i = 0; i < 5; ++i) CHECK(j.message() == "number " + std::to_string(i));
  CHECK(j.message() == "nothing has come");
  CHECK(j.sender.counters().sent == 5);
  CHECK(j.notice() == "(none)");
  CHECK(j.all_counted());
}

TEST_CASE("journal: J7, an entry too large for a datagram arrives as a sealed memfd, byte for byte", "[diag][journal]") {
  Journal j;
  j.begin();
  std::set<bool> ways;
  for (std::size_t size : {48u * 1024, 64u * 1024, 212'961u, 300u * 1024, 4'300'000u}) {
    std::string message(size, 'x');
    for (std::size_t i = 0; i < size; i += 997) message[i] = static_cast<char>(i);
    message.back() = '!';
    REQUIRE(j.send(message));
    std::string entry(j.encoder.encode({.message = message}));
    auto bytes = j.receiver->take_bytes();
    REQUIRE(bytes);
    CHECK(*bytes == entry);  // and not compared byte by byte in the report
    ways.insert(j.receiver->last_was_memfd());
  }
  CHECK(ways == std::set<bool>{false, true});
  CHECK(j.sender.counters().memfd >= 1);
  CHECK(j.all_counted());
}

TEST_CASE("journal: J7, one descriptor, no more, is what a large entry needs", "[diag][journal]") {
  Journal j;
  j.begin();
  std::string message(4'300'000, 'x');
  int before = ::dup(0);
  ::close(before);
  for (int i = 0; i < 3; ++i) {
    REQUIRE(j.send(message));
    REQUIRE(j.receiver->take());
    CHECK(j.receiver->last_was_memfd());
  }
  int after = ::dup(0);
  ::close(after);
  CHECK(after == before);
}

TEST_CASE("journal: J8, where there is no socket it is told once, asked seldom, and met again when it is there", "[diag][journal]") {
  Journal j;
  for (int i = 0; i < 100; ++i) CHECK_FALSE(j.send());
  CHECK(j.sender.state() == JournalState::kAbsent);
  CHECK(j.sender.counters().absent == 100);
  CHECK(j.notice() == "journald is not there, " + j.path + ": No such file or directory; what is for it is lost, and counted");
  j.now += 10s;
  CHECK_FALSE(j.send());
  CHECK(j.notice() == "(none)");

  j.begin();
  j.now += JournalSender::kBackOff - 1ms;
  CHECK_FALSE(j.send("too early"));
  j.now += 1ms;
  CHECK(j.send("early enough"));
  CHECK(j.message() == "early enough");
  CHECK(j.notice() == "journald takes records again; 102 were lost");
  CHECK(j.notice() == "(none)");
  CHECK(JournalSender::kBackOff <= 1s);
  CHECK(j.sender.counters().absent == 102);
  CHECK(j.all_counted());
}

TEST_CASE("journal: J8, a socket that nobody holds any more refuses, and the next journald is met without a new socket", "[diag][journal]") {
  Journal j;
  j.begin();
  CHECK(j.send());
  for (int life = 0; life < 3; ++life) {
    j.die();
    CHECK_FALSE(j.send());
    CHECK(j.sender.state() == JournalState::kRefused);
    CHECK(j.notice() == "journald is not to be reached, " + j.path + ": Connection refused; what is for it is lost, and counted");
    j.begin();
    j.now += 1s;
    CHECK(j.send("again"));
    CHECK(j.message() == "again");
    CHECK(j.notice() == "journald takes records again; 1 were lost");
    j.now += 1s;
  }
  CHECK(j.sender.counters().refused == 3);
  CHECK(j.all_counted());
}

TEST_CASE("journal: J8, a socket that may not be written to refuses", "[diag][journal]") {
  Journal j;
  j.begin();
  ::chmod(j.path.c_str(), 0);
  pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    constexpr uid_t kNobody = 65534;
    if (::geteuid() == 0 && ::setresuid(kNobody, kNobody, kNobody) != 0) ::_exit(3);  // root may write to every socket
    bool refused = !j.send() && j.sender.state() == JournalState::kRefused && j.sender.counters().refused == 1 && j.sender.error() == EACCES;
    ::_exit(refused ? 0 : 1);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

TEST_CASE("journal: J8, who does not read is waited for once, and heard again when it reads", "[diag][journal]") {
  Journal j;
  j.begin();
  while (j.send("queued")) REQUIRE(j.calls < 10'000);
  const std::uint64_t sent = j.sender.counters().sent;
  CHECK(j.sender.state() == JournalState::kStalled);
  CHECK(j.sender.error() == EAGAIN);
  CHECK(j.notice() == "journald has read nothing for 200 ms; what is for it is lost, and counted");
  auto before = std::chrono::steady_clock::now();
  for (int i = 0; i < 1000; ++i) CHECK_FALSE(j.send());
  CHECK(std::chrono::steady_clock::now() - before < 1000 * JournalSender::kPatience);
  CHECK(j.notice() == "(none)");

  CHECK(j.message() == "queued");
  CHECK(j.send("next"));
  CHECK(j.sender.state() == JournalState::kTaken);
  j.now += 1s;
  CHECK(j.notice() == "journald takes records again; 1001 were lost");
  CHECK(j.sender.counters().sent == sent + 1);
  CHECK(j.sender.counters().dropped == 1001);
  CHECK(j.all_counted());
}

TEST_CASE("journal: what changes to and fro is told once a second, and not where it is as it was told", "[diag][journal]") {
  Journal j;
  CHECK_FALSE(j.send());
  CHECK(j.notice() != "(none)");
  j.begin();
  j.now += JournalSender::kBackOff;
  CHECK(j.send());
  CHECK(j.notice() == "(none)");
  j.vanish();
  CHECK_FALSE(j.send());
  j.now += 1s;
  CHECK(j.notice() == "(none)");
  j.begin();
  CHECK(j.send());
  CHECK(j.notice() == "journald takes records again; 2 were lost");
  CHECK(j.all_counted());
}

TEST_CASE("journal: what is no datagram socket fails and says why", "[diag][journal]") {
  Journal j;
  int stream = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  j.path.copy(address.sun_path, sizeof address.sun_path - 1);
  REQUIRE(::bind(stream, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(::listen(stream, 1) == 0);
  CHECK_FALSE(j.send());
  CHECK(j.sender.state() == JournalState::kFailing);
  CHECK(j.notice().find("Protocol wrong type for socket") != std::string::npos);
  ::close(stream);
  j.begin();
  CHECK(j.send());
  CHECK(j.all_counted());
}

TEST_CASE("journal: sending allocates nothing", "[diag][journal]") {
  Journal j;
  j.begin();
  REQUIRE(j.send());
  std::string_view entry = j.encoder.encode({.message = "m"});
  std::uint64_t before = allocations_of_this_thread();
  for (int i = 0; i < 5; ++i) (void)j.sender.send(entry, j.now);
  j.die();
  for (int i = 0; i < 5; ++i) (void)j.sender.send(entry, j.now);
  CHECK(allocations_of_this_thread() == before);
}

TEST_CASE("journal: J11, no program that is started has the socket, and a child's entries have its own number", "[diag][journal]") {
  Journal j;
  int probe = ::dup(0);
  ::close(probe);
  {
    JournalSender another = *JournalSender::open(j.path);
    CHECK((::fcntl(probe, F_GETFD) & FD_CLOEXEC) != 0);
  }
  j.begin();
  pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    JournalRecord r{.message = "of the child", .process = static_cast<std::uint32_t>(::getpid())};
    ::_exit(j.sender.send(j.encoder.encode(r), j.now) ? 0 : 1);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  auto entries = j.receiver->take();
  REQUIRE(entries);
  CHECK(entries->front().value("SYSLOG_PID") == std::to_string(child));
  CHECK(j.receiver->last_sender() == static_cast<std::uint32_t>(child));
}
