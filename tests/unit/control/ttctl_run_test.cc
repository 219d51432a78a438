// SPDX-License-Identifier: Apache-2.0
// ttctl as a whole: command line, exit status and text, against a real server, and against bad ones.
#include "control/ttctl/run.h"

#include <atomic>
#include <functional>

#include <boost/json.hpp>
#include <catch2/catch.hpp>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control/socket_path.h"
#include "control/ttctl/client.h"
#include "control/ttctl/command_line.h"
#include "tests/unit/control/running_server.h"

using namespace telltale::control;
using namespace std::chrono_literals;

namespace {

Outcome ask(const RunningServer& running, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"--control", running.path});
  return run(std::move(arguments), "");
}

// Something that listens like a daemon, reads a request, and answers what it is told; empty: nothing.
class Impostor {
 public:
  Impostor(std::string answer, bool close_at_once) : path(folder_ / "s") {
    listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address = socket_address(path);
    ::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    ::listen(listener_, 4);
    thread_ = std::thread([this, answer = std::move(answer), close_at_once] {
      int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      char bytes[4096];
      if (!close_at_once) (void)!::recv(client, bytes, sizeof bytes, 0);
      for (std::string_view rest = answer; !rest.empty();) {
        ssize_t n = ::send(client, rest.data(), rest.size(), MSG_NOSIGNAL);
        if (n <= 0) break;
        rest.remove_prefix(static_cast<std::size_t>(n));
      }
      // Until the other side has had enough.
      while (!close_at_once && ::recv(client, bytes, sizeof bytes, 0) > 0) {
      }
      ::close(client);
    });
  }
  ~Impostor() {
    thread_.join();
    ::close(listener_);
  }

 private:
  TempDir folder_;
  int listener_;
  std::thread thread_;

 public:
  const std::string path;
};

std::string response(const std::string& status, const std::string& content) {
  return "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(content.size()) + "\r\n\r\n" + content;
}

}  // namespace

TEST_CASE("ttctl: the log is opened anew, and the status of debug is shown", "[control][ttctl]") {
  RunningServer running;
  CHECK(ask(running, {"log", "reopen"}).out == "opened /logs/diags.log anew\n");
  CHECK(ask(running, {"debug", "status"}).out == "sinks\n  stderr  0 lines\n");
  running.target.log_held_up = true;
  CHECK(ask(running, {"log", "reopen"}).out.find("is opened anew as soon as the writer of lines is no longer held up") != std::string::npos);
  running.target.log_reopens = false;
  Outcome refused = ask(running, {"log", "reopen"});
  CHECK(refused.exit_status == kExitRefused);
  CHECK(refused.err.find("cannot be opened: Permission denied") != std::string::npos);
  CHECK(ask(running, {"log"}).exit_status == kExitUsage);
}

TEST_CASE("ttctl: each command prints its answer and ends with 0", "[control][ttctl]") {
  RunningServer running;
  running.target.lease_default.reset();
  struct {
    std::vector<std::string> arguments;
    std::string out;
  } commands[] = {
      {{"config", "get", "proxy.config.diags.debug.tags"}, "proxy.config.diags.debug.tags: http|dns\n"},
      {{"config", "set", "proxy.config.x", "a b%&+\"\xc3\xa9"}, "set proxy.config.x to a b%&+\"\xc3\xa9\n"},
      {{"config", "get", "proxy.config.x"}, "proxy.config.x: a b%&+\"\xc3\xa9\n"},
      {{"config", "set", "proxy.config.x", "-1"}, "set proxy.config.x to -1\n"},
      {{"config", "set", "proxy.config.x", "--", "-http"}, "set proxy.config.x to -http\n"},
      {{"config", "match", "debug.t"}, "proxy.config.diags.debug.tags: http|dns\n"},
      {{"config", "set", "proxy.config.x", ""}, "set proxy.config.x to \"\"\n"},
      {{"config", "describe", "proxy.config.x"},
       "proxy.config.x\n  Does x.\n  value    \"\"\n  source   records.yaml:3\n  type     text\n  range    any\n  default  z\n"
       "  change   in force at once\n"},
      {{"config", "reload"},
       "changed: proxy.config.diags.debug.tags\nneeds a restart: proxy.config.http.server_ports\n"},
      {{"debug", "enable", "--tags", "http", "--client-ip", "127.0.0.2"},
       "lease 1: tags http\nclients: 127.0.0.2\nends: when it is ended\nsites on: 3\non: http\non: http_hdrs\nlines go to: stderr\nlines go to: /logs/diags.log\n"},
      {{"debug", "enable", "--tags", "dns", "--append", "--all-clients"},
       "lease 2: tags dns\nclients: all\nends: when it is ended\nsites on: 3\non: dns\nlines go to: stderr\nlines go to: /logs/diags.log\n"},
      {{"debug", "disable"}, "leases ended: 2\nproxy.config.diags.debug.enabled: 0, as before\n"},
      {{"debug", "enable", "--tags=htpp"},
       "lease 3: tags htpp\nclients: all\nends: when it is ended\nsites on: 3\nno tag matches yet; did you mean http?\nlines go to: stderr\nlines go to: /logs/diags.log\n"},
      {{"status"}, "process\n  version  0.1.0\n  pid      42\ncache\n  hits  18446744073709551615\n  full  false\n"},
      {{"status", "--json"},
       "{\"version\":1,\"status\":{\"process\":{\"version\":\"0.1.0\",\"pid\":42},"
       "\"cache\":{\"hits\":18446744073709551615,\"full\":false}}}\n"},
  };
  for (const auto& command : commands) {
    CAPTURE(command.arguments);
    Outcome got = ask(running, command.arguments);
    CHECK(got.exit_status == kExitDone);
    CHECK(got.out == command.out);
    CHECK(got.err.empty());
  }
  CHECK(ask(running, {"debug", "tags"}).out.find("on for clients  http") != std::string::npos);
}

TEST_CASE("ttctl: what the daemon refuses goes to stderr with 1, a caret where it has an offset", "[control][ttctl]") {
  RunningServer running;
  Outcome got = ask(running, {"debug", "enable", "--tags", "http|("});
  CHECK(got.exit_status == kExitRefused);
  CHECK(got.out.empty());
  CHECK(got.err == "ttctl: refused: --tags: missing closing parenthesis (offset 6)\n  http|(\n        ^\n");
  got = ask(running, {"config", "set", "proxy.config.diags.debug.tags", "("});
  CHECK(got.err == "ttctl: refused: missing closing parenthesis (offset 1)\n  (\n   ^\n");
  CHECK(ask(running, {"config", "match", "("}).exit_status == kExitRefused);
  CHECK(ask(running, {"config", "get", "none"}).err == "ttctl: refused: there is no such record\n");
  got = ask(running, {"--json", "config", "get", "none"});
  CHECK(got.exit_status == kExitRefused);
  CHECK(boost::json::parse(got.out).at("errors").at(0).at("where") == "name");
  CHECK_FALSE(got.err.empty());
}

TEST_CASE("ttctl: widening from some clients to all is refused with the way to do it", "[control][ttctl]") {
  RunningServer running;
  REQUIRE(ask(running, {"debug", "enable", "--tags", "http", "--client-ip", "127.0.0.2"}).exit_status == kExitDone);
  Outcome got = ask(running, {"debug", "enable", "--tags", "dns"});
  CHECK(got.exit_status == kExitRefused);
  CHECK(got.err.find("lease 1 (client_ip '127.0.0.2')") != std::string::npos);
  CHECK(got.err.find("--all-clients") != std::string::npos);
}

TEST_CASE("ttctl: a reload that is refused prints every problem", "[control][ttctl]") {
  RunningServer running;
  running.on_loop([&] { running.target.reload_errors = {{.what = "bad", .where = "records.yaml:1:2"}, {.what = "worse"}}; });
  CHECK(ask(running, {"config", "reload"}).err == "ttctl: refused: records.yaml:1:2: bad\nttctl: refused: worse\n");
}

TEST_CASE("ttctl: a wrong command line ends with 2 and asks nobody", "[control][ttctl]") {
  RunningServer running;
  for (std::vector<std::string> arguments : std::vector<std::vector<std::string>>{
           {}, {"bogus"}, {"config"}, {"config", "bogus"}, {"config", "get"}, {"config", "get", ""}, {"config", "get", "a", "b"},
           {"config", "get", "\xff"}, {"config", "set", "a"}, {"config", "set", "", "a"}, {"config", "set", "a", "\xff"}, {"config", "set", "a", "-http"},
           {"config", "describe", ""}, {"config", "describe", "a", "b"},
           {"config", "match"}, {"config", "match", ""}, {"config", "reload", "x"}, {"debug"}, {"debug", "enable"},
           {"debug", "enable", "http"}, {"debug", "enable", "--tags"}, {"debug", "enable", "--tags", ""},
           {"debug", "enable", "--tags", "a", "--client-ip", ""}, {"debug", "enable", "--tags", "a", "--bogus"},
           {"debug", "enable", "--tags", "a", "--tags", "b"}, {"debug", "enable", "--append"}, {"debug", "enable", "--rule", ""},
           {"debug", "enable", "--tags", "a", "--for", "5"}, {"debug", "enable", "--tags", "a", "--for", "0s"},
           {"debug", "enable", "--tags", "a", "--for", "5 s"}, {"debug", "enable", "--tags", "a", "--max-lines", "0"},
           {"debug", "enable", "--tags", "a", "--max-lines", "-1"}, {"debug", "end"}, {"debug", "end", "x"}, {"debug", "end", "0"},
           {"debug", "preview", "--tags", "a"}, {"debug", "preview", "--for", "1s"}, {"debug", "preview", "--tags", "a", "--for", "forever"},
           {"debug", "sites", "x"}, {"debug", "sites", "--file", ""}, {"debug", "follow", "--for", "forever"}, {"debug", "leases", "x"},
           {"debug", "enable", "--tags", "a", "--client-ip", "::1", "--all-clients"}, {"debug", "tags", "x"},
           {"status", "x"}, {"status", "stop"}, {"--bogus", "status"}}) {
    CAPTURE(arguments);
    Outcome got = ask(running, arguments);
    CHECK(got.exit_status == kExitUsage);
    CHECK(got.out.empty());
    CHECK(got.err.find("ttctl: ") == 0);
  }
  CHECK(run({"--control", "", "status"}, "").exit_status == kExitUsage);
  CHECK(run({"--control"}, "").exit_status == kExitUsage);
  CHECK(running.target.calls == 0);
}

TEST_CASE("ttctl: a wrong number or duration is answered with what was given and what was expected", "[control][ttctl]") {
  for (std::vector<std::string> words : std::vector<std::vector<std::string>>{
           {"debug", "end"}, {"debug", "enable", "--tags", "a", "--max-lines"}, {"debug", "enable", "--tags", "a", "--replace"}}) {
    for (std::string value : {"0", "x", "1e3", "1.0", "0x1", "99999999999999999999", "9007199254740992"}) {
      std::vector<std::string> arguments = words;
      arguments.push_back(value);
      CAPTURE(arguments);
      Outcome got = run(arguments, "");
      CHECK(got.exit_status == kExitUsage);
      CHECK(got.err.find(": '" + value + "' is not a number from 1 to 9007199254740991\n") != std::string::npos);
    }
  }
  for (std::string value : {"0", "5", "1.5s", "-5s", "5x", "1000001h", "1001d", "99999999999999999999d"}) {
    CAPTURE(value);
    for (std::vector<std::string> arguments : std::vector<std::vector<std::string>>{
             {"debug", "enable", "--tags", "a", "--for=" + value}, {"debug", "preview", "--tags", "a", "--for=" + value}}) {
      Outcome got = run(arguments, "");
      CHECK(got.exit_status == kExitUsage);
      CHECK(got.err.find("--for: '" + value + "' is not a duration; expected a number and ms, s, m, h or d, such as ") != std::string::npos);
    }
  }
}

TEST_CASE("ttctl: a misspelt command or option is answered with the right one", "[control][ttctl]") {
  CHECK(run({"stauts"}, "").err == "ttctl: there is no command 'stauts'\nttctl: did you mean 'debug status' or 'status'?\nRun with --help for more information.\n");
  CHECK(run({"config", "describ", "x"}, "").err.find("ttctl: did you mean 'config describe'?\n") != std::string::npos);
  CHECK(run({"enable", "--tags", "x"}, "").err.find("ttctl: did you mean 'debug enable'?\n") != std::string::npos);
  CHECK(run({"debug", "enable", "--tag", "x"}, "").err.find("ttctl: did you mean '--tags'?\n") != std::string::npos);
  CHECK(run({"debug", "enable", "--tags", "x", "--apend"}, "").err.find("ttctl: did you mean '--append'?\n") != std::string::npos);
  CHECK(run({"xyzzy"}, "").err.find("did you mean") == std::string::npos);
}

TEST_CASE("ttctl: help goes to stdout with 0", "[control][ttctl]") {
  Outcome got = run({"--help"}, "");
  CHECK(got.exit_status == kExitDone);
  CHECK(got.out.find("configs/demo/var/control.sock") != std::string::npos);
  CHECK(run({"debug", "enable", "--help"}, "").out.find("--client-ip") != std::string::npos);
}

TEST_CASE("ttctl: --control wins over --config, that over the environment, that over the default", "[control][ttctl]") {
  auto path = [](std::vector<std::string> arguments, const std::string& environment) {
    arguments.push_back("status");
    return parse_command_line(arguments, environment).value().control_path;
  };
  CHECK(path({"--control", "/c", "--config", "/d"}, "/e") == "/c");
  CHECK(path({"--config", "/d"}, "/e") == "/d/var/control.sock");
  CHECK(path({}, "/e") == "/e");
  CHECK(path({}, "") == "configs/demo/var/control.sock");
}

TEST_CASE("ttctl: no daemon, and a path too long, end with 3 and name path and reason", "[control][ttctl]") {
  TempDir folder;
  Outcome got = run({"--control", folder / "none", "status"}, "");
  CHECK(got.exit_status == kExitNoAnswer);
  CHECK(got.err == "ttctl: cannot connect to the daemon at " + (folder / "none") + ": No such file or directory\n");
  for (std::size_t length : {107U, 108U}) {
    std::string path = folder / std::string(length - folder.path().size() - 1, 's');
    got = run({"--control", path, "status"}, "");
    CHECK(got.exit_status == kExitNoAnswer);
    CHECK(got.err.find(path) != std::string::npos);
    CHECK((got.err.find("108 bytes, the limit is 107") != std::string::npos) == (length == 108));
  }
}

TEST_CASE("ttctl: a daemon that does not answer ends with 3 after the time-out", "[control][ttctl]") {
  Impostor silent("", false);
  Outcome got = run({"--control", silent.path, "status"}, "", {.answer = 50ms});
  CHECK(got.exit_status == kExitNoAnswer);
  CHECK(got.err == "ttctl: the daemon at " + silent.path + " does not answer: nothing within 0.05 s\n");
  Impostor half("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{", false);
  CHECK(run({"--control", half.path, "status"}, "", {.answer = 50ms}).exit_status == kExitNoAnswer);
}

TEST_CASE("ttctl: a daemon that accepts nobody ends with 3 after the time-out", "[control][ttctl]") {
  TempDir folder;
  std::string path = folder / "s";
  int busy = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address = socket_address(path);
  REQUIRE(::bind(busy, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(::listen(busy, 0) == 0);
  auto first = Client::connect(path, 1s);
  REQUIRE(first);
  Outcome got = run({"--control", path, "status"}, "", {.answer = 50ms});
  CHECK(got.exit_status == kExitNoAnswer);
  CHECK(got.err.find("it accepts no connection within 0.05 s") != std::string::npos);
  ::close(busy);
}

TEST_CASE("ttctl: a daemon that closes, or that speaks otherwise, is told from one that answers", "[control][ttctl]") {
  struct {
    std::string answer;
    int exit_status;
    std::string err;
  } cases[] = {
      {"", kExitNoAnswer, "it closed the connection"},
      {"SSH-2.0-x\r\n\r\n", kExitNoAnswer, "is no telltale daemon: it does not speak HTTP"},
      {response("200 OK", "hello"), kExitRefused, "is no telltale daemon"},
      {response("200 OK", "{}"), kExitRefused, "is no telltale daemon"},
      {response("200 OK", "{\"version\":2}"), kExitRefused, "version 2 of the control protocol, this ttctl knows 1"},
      {response("200 OK", "{\"version\":1}"), kExitRefused, "is not understood"},
      {response("200 OK", "{\"version\":1,\"status\":7}"), kExitRefused, "is not understood"},
      {response("500 No", "{\"version\":1}"), kExitRefused, "is not understood"},
  };
  for (const auto& one : cases) {
    CAPTURE(one.answer);
    Impostor impostor(one.answer, one.answer.empty());
    Outcome got = run({"--control", impostor.path, "status"}, "");
    CHECK(got.exit_status == one.exit_status);
    CHECK(got.err.find(one.err) != std::string::npos);
    CHECK(got.out.empty());
  }
}

TEST_CASE("ttctl: an answer of 16 MiB is read, one byte more is not", "[control][ttctl][limit]") {
  for (std::size_t bytes : {kReplyBytesMax, kReplyBytesMax + 1}) {
    std::string content = "{\"version\":1,\"status\":{\"a\":{\"b\":\"";
    content += std::string(bytes - content.size() - 4, 'x') + "\"}}}";
    Impostor impostor(response("200 OK", content), false);
    Outcome got = run({"--control", impostor.path, "--json", "status"}, "");
    CHECK(got.exit_status == (bytes == kReplyBytesMax ? kExitDone : kExitNoAnswer));
    CHECK(got.out.size() == (bytes == kReplyBytesMax ? bytes : 0));
  }
}

TEST_CASE("ttctl: a refused connection's answer is shown though it came before the request", "[control][ttctl]") {
  Impostor impostor(response("503 Full", R"({"version":1,"errors":[{"what":"64 connections"}]})"), true);
  Outcome got = run({"--control", impostor.path, "status"}, "");
  CHECK(got.exit_status == kExitRefused);
  CHECK(got.err == "ttctl: refused: 64 connections\n");
}

TEST_CASE("ttctl: stop waits for the process to end, and says so if it does not", "[control][ttctl]") {
  SECTION("the daemon is this process, which goes on") {
    RunningServer running;
    running.target.on_stop = [&] { running.server->stop(); };
    Outcome got = run({"--control", running.path, "stop"}, "", {.end = 50ms});
    CHECK(got.exit_status == kExitRefused);
    CHECK(got.err == "ttctl: process " + std::to_string(::getpid()) + " is stopping, but has not ended within 0.05 s\n");
    running.wait_until([&] { return running.target.stops == 1; });
  }
  SECTION("a child that ends when told") {
    TempDir folder;
    std::string path = folder / "s";
    int ready[2];
    REQUIRE(::pipe(ready) == 0);
    pid_t child = ::fork();
    if (child == 0) {
      boost::asio::io_context loop;
      FakeTarget target;
      target.on_stop = [&] { loop.stop(); };
      auto server = Server::open(loop, target, path);
      if (!server || ::write(ready[1], "!", 1) != 1) ::_exit(1);
      loop.run();
      server->reset();
      ::_exit(0);
    }
    char byte;
    REQUIRE(::read(ready[0], &byte, 1) == 1);
    Outcome got = run({"--control", path, "stop"}, "");
    CHECK(got.exit_status == kExitDone);
    CHECK(got.out == "process " + std::to_string(child) + " has ended\n");
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    CHECK(::access(path.c_str(), F_OK) != 0);
    ::close(ready[0]);
    ::close(ready[1]);
  }
}
