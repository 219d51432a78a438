// SPDX-License-Identifier: Apache-2.0
// The server over a real unix socket: paths, connections, limits, bytes that are no HTTP.
#include "control/server.h"

#include <atomic>
#include <filesystem>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <boost/json.hpp>
#include <catch2/catch.hpp>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/control/raw_client.h"
#include "tests/unit/control/running_server.h"

using namespace telltale::control;
using namespace std::chrono_literals;
namespace json = boost::json;

namespace {

std::string what_of(const RawAnswer& answer) {
  json::object object = json::parse(answer.content).as_object();
  CHECK(object.at("version") == 1);
  return std::string(object.at("errors").at(0).at("what").as_string());
}

bool has(const RawAnswer& answer, const std::string& text) { return answer.head.find(text) != std::string::npos; }

}  // namespace

TEST_CASE("Server: every path answers in JSON with a version, on one connection", "[control][server]") {
  RunningServer running;
  RawClient client(running.path);
  struct {
    const char *method, *target, *content;
    int status;
  } requests[] = {
      {"GET", "/v1/status", "", 200},
      {"GET", "/v1/config?name=proxy.config.diags.debug.tags", "", 200},
      {"GET", "/v1/config?name=none", "", 422},
      {"PUT", "/v1/config", R"({"name":"proxy.config.x","value":"1"})", 200},
      {"GET", "/v1/config/match?regex=debug", "", 200},
      {"POST", "/v1/config/reload", "", 200},
      {"GET", "/v1/debug/tags", "", 200},
      {"GET", "/v1/debug/status", "", 200},
      {"POST", "/v1/log/reopen", "", 200},
      {"POST", "/v1/debug/enable", R"({"tags":"http"})", 200},
      {"POST", "/v1/debug/enable", R"({"tags":"http|("})", 422},
      {"POST", "/v1/debug/enable", "{", 400},
      {"POST", "/v1/debug/disable", "", 200},
      {"GET", "/v1/none", "", 404},
      {"DELETE", "/v1/status", "", 405},
      {"POST", "/v1/stop", "", 200},
  };
  for (const auto& request : requests) {
    CAPTURE(request.method, request.target);
    RawAnswer got = client.ask(request.method, request.target, request.content);
    CHECK(got.status == request.status);
    CHECK(has(got, "\r\nContent-Type: application/json\r\n"));
    CHECK(has(got, "\r\nCache-Control: no-store\r\n"));
    CHECK(json::parse(got.content).at("version") == 1);
    CHECK(has(got, "\r\nAllow: GET\r\n") == (request.status == 405));
  }
  CHECK(client.ask("GET", "/v1/status").status == 200);
}

TEST_CASE("Server: a change is in force when its answer is there, also on another connection", "[control][server]") {
  RunningServer running;
  RawClient one(running.path), other(running.path);
  for (int i = 0; i < 50; ++i) {
    std::string value = std::to_string(i);
    REQUIRE(one.ask("PUT", "/v1/config", R"({"name":"proxy.config.x","value":")" + value + "\"}").status == 200);
    RawAnswer got = other.ask("GET", "/v1/config?name=proxy.config.x");
    CHECK(json::parse(got.content).at("record").at("value").as_string() == value);
  }
}

TEST_CASE("Server: stop is answered first, then done once", "[control][server]") {
  RunningServer running;
  running.target.on_stop = [&] { running.server->stop(); };
  RawClient client(running.path), idle(running.path);
  REQUIRE(idle.ask("GET", "/v1/status").status == 200);
  CHECK(client.ask("POST", "/v1/stop").status == 200);
  CHECK(client.ended());
  CHECK(idle.ended());
  running.on_loop([&] { CHECK(running.target.stops == 1); });
  CHECK_FALSE(std::filesystem::exists(running.path));
  CHECK_THROWS(RawClient(running.path));
}

TEST_CASE("Server: requests sent at once are answered in order", "[control][server]") {
  RunningServer running;
  RawClient client(running.path);
  client.send("GET /v1/status HTTP/1.1\r\nHost: x\r\n\r\nGET /none HTTP/1.1\r\nHost: x\r\n\r\nPOST /v1/debug/disable HTTP/1.1\r\n"
              "Content-Length: 2\r\n\r\n{}GET /v1/debug/tags HTTP/1.1\r\n\r\n");
  for (int status : {200, 404, 200, 200}) CHECK(client.receive().status == status);
}

TEST_CASE("Server: requests may come a byte at a time, and in chunks", "[control][server]") {
  RunningServer running;
  RawClient client(running.path);
  for (char byte : std::string("GET /v1/status HTTP/1.1\r\nHost: x\r\n\r\n")) client.send(std::string(1, byte));
  CHECK(client.receive().status == 200);
  client.send("PUT /v1/config HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
              "1\r\n{\r\n24\r\n\"name\":\"proxy.config.x\",\"value\":\"2\"}\r\n0\r\n\r\n");
  CHECK(client.receive().status == 200);
  running.on_loop([&] { CHECK(running.target.records["proxy.config.x"] == "2"); });
}

TEST_CASE("Server: a client that asks to go on is told to", "[control][server]") {
  RunningServer running;
  RawClient client(running.path);
  client.send("POST /v1/debug/disable HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  CHECK(client.receive().status == 100);
  client.send("{}");
  CHECK(client.receive().status == 200);
}

TEST_CASE("Server: closes where the client says so, and with HTTP/1.0", "[control][server]") {
  RunningServer running;
  RawClient one(running.path);
  one.send("GET /v1/status HTTP/1.1\r\nConnection: close\r\n\r\n");
  RawAnswer got = one.receive();
  CHECK(got.status == 200);
  CHECK(has(got, "\r\nConnection: close\r\n"));
  CHECK(one.ended());
  RawClient old(running.path);
  old.send("GET /v1/status HTTP/1.0\r\n\r\n");
  CHECK(old.receive().status == 200);
  CHECK(old.ended());
}

TEST_CASE("Server: the answer to HEAD has no content", "[control][server]") {
  RunningServer running;
  RawClient client(running.path);
  RawAnswer got = client.ask("HEAD", "/v1/status");
  CHECK(got.status == 405);
  CHECK(got.content.empty());
  CHECK(client.ask("GET", "/v1/status").status == 200);
}

TEST_CASE("Server: content of 64 KiB is taken, one byte more is 413", "[control][server][limit]") {
  RunningServer running;
  const std::string head = R"({"name":"proxy.config.x","value":")";
  for (std::size_t bytes : {65536U, 65537U}) {
    for (bool chunked : {false, true}) {
      CAPTURE(bytes, chunked);
      RawClient client(running.path);
      std::string content = head + std::string(bytes - head.size() - 2, 'v') + "\"}";
      if (chunked) {
        char size[16];
        std::snprintf(size, sizeof size, "%zx\r\n", content.size());
        client.send("PUT /v1/config HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + std::string(size) + content + "\r\n0\r\n\r\n");
      } else {
        client.send("PUT /v1/config HTTP/1.1\r\nContent-Length: " + std::to_string(bytes) + "\r\n\r\n" + content);
      }
      RawAnswer got = client.receive();
      CHECK(got.status == (bytes <= 65536 ? 200 : 413));
      if (bytes > 65536) {
        CHECK(what_of(got).find("65536") != std::string::npos);
        CHECK(client.ended());
      }
    }
  }
}

TEST_CASE("Server: a head of 8 KiB is taken, one byte more is 431", "[control][server][limit]") {
  RunningServer running;
  for (auto [bytes, in_pieces] : {std::pair{8192U, false}, {8192U, true}, {8193U, false}, {8193U, true}}) {
    CAPTURE(bytes, in_pieces);
    RawClient client(running.path);
    std::string head = "GET /v1/status HTTP/1.1\r\nX: ";
    head += std::string(bytes - head.size() - 4, 'x') + "\r\n\r\n";
    for (std::size_t at = 0, step = in_pieces ? 1000 : head.size(); at < head.size(); at += step) client.send(head.substr(at, step));
    RawAnswer got = client.receive();
    CHECK(got.status == (bytes <= 8192 ? 200 : 431));
    if (bytes > 8192) {
      CHECK(what_of(got).find("8192") != std::string::npos);
      CHECK(client.ended());
    }
  }
}

TEST_CASE("Server: a request line without end is refused", "[control][server][limit]") {
  RunningServer running;
  RawClient client(running.path);
  client.send("GET /" + std::string(200'000, 'a'));
  CHECK(client.receive().status == 431);
  CHECK(client.ended());
}

TEST_CASE("Server: 64 connections are served, the next gets 503, and its place is free again", "[control][server][limit]") {
  RunningServer running;
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 64; ++i) {
    clients.push_back(std::make_unique<RawClient>(running.path));
    REQUIRE(clients.back()->ask("GET", "/v1/status").status == 200);
  }
  {
    RawClient late(running.path);
    RawAnswer got = late.receive();
    CHECK(got.status == 503);
    CHECK(what_of(got).find("64 connections") != std::string::npos);
    CHECK(late.ended());
  }
  CHECK(clients.front()->ask("GET", "/v1/status").status == 200);
  clients.pop_back();
  running.wait_until([&] { return running.server->connections() == 63; });
  RawClient next(running.path);
  CHECK(next.ask("GET", "/v1/status").status == 200);
}

TEST_CASE("Server: the time-out is ten seconds by default", "[control][server][limit]") {
  CHECK(ServerLimits{}.client_timeout == 10s);
  CHECK(ServerLimits{}.content_bytes_max == 65536);
  CHECK(ServerLimits{}.head_bytes_max == 8192);
  CHECK(ServerLimits{}.connections_max == 64);
}

TEST_CASE("Server: half a request gets 408 after the time-out, an idle connection is closed", "[control][server][limit]") {
  RunningServer running({.client_timeout = 50ms});
  std::unique_ptr<RawClient> half_head, half_content, idle;
  running.while_held([&] {
    for (auto* client : {&half_head, &half_content, &idle}) *client = std::make_unique<RawClient>(running.path);
    half_head->send("GET /v1/sta");
    half_content->send("POST /v1/debug/disable HTTP/1.1\r\nContent-Length: 2\r\n\r\n{");
  });
  for (RawClient* client : {half_head.get(), half_content.get()}) {
    RawAnswer got = client->receive();
    CHECK(got.status == 408);
    CHECK(what_of(got).find("50 ms") != std::string::npos);
    CHECK(client->ended());
  }
  CHECK(idle->ended());
  CHECK(running.target.calls == 0);
}

TEST_CASE("Server: a client that does not take its answers is closed after the time-out", "[control][server][limit]") {
  RunningServer running({.client_timeout = 50ms});
  running.on_loop([&] { running.target.records["proxy.config.x"] = std::string(8 << 20, 'x'); });
  std::unique_ptr<RawClient> client;
  running.while_held([&] {
    client = std::make_unique<RawClient>(running.path);
    client->send("GET /v1/config?name=proxy.config.x HTTP/1.1\r\n\r\n");
  });
  running.wait_until([&] { return running.target.calls == 1 && running.server->connections() == 0; });
}

TEST_CASE("Server: a client that goes away in the middle does no harm", "[control][server]") {
  RunningServer running;
  { RawClient client(running.path); }
  {
    RawClient client(running.path);
    client.send("POST /v1/debug/disable HTTP/1.1\r\nContent-Length: 2\r\n\r\n{");
  }
  {
    RawClient client(running.path);
    client.send("GET /v1/status HTTP/1.1\r\n\r\n");
  }
  {
    RawClient client(running.path);
    client.send("GET /v1/sta");
    client.end_sending();
    CHECK(client.receive().status == 400);
  }
  running.wait_until([&] { return running.server->connections() == 0; });
  RawClient client(running.path);
  CHECK(client.ask("GET", "/v1/status").status == 200);
}

TEST_CASE("Server: bytes that are no HTTP get 400 and the end of the connection", "[control][server]") {
  RunningServer running;
  for (std::string bytes : {std::string("hello\r\n\r\n"), std::string("GET\r\n\r\n"), std::string("\x16\x03\x01\x02\x00\x01", 6) + "\r\n\r\n",
                            std::string("GET /v1/status HTTP/3.0\r\n\r\n"), std::string("GET /v1/status HTTP/1.1\r\nbad field\r\n\r\n"),
                            std::string("POST /v1/stop HTTP/1.1\r\nContent-Length: -1\r\n\r\n"),
                            std::string("POST /v1/stop HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"),
                            std::string("POST /v1/stop HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
                            std::string("GET /v1/\0status HTTP/1.1\r\n\r\n", 28)}) {
    CAPTURE(bytes);
    RawClient client(running.path);
    client.send(bytes);
    RawAnswer got = client.receive();
    CHECK(got.status == 400);
    CHECK(what_of(got).find("not an HTTP/1.1 request") == 0);
    CHECK(client.ended());
  }
  CHECK(running.target.stops == 0);
}

TEST_CASE("Server: many clients at once each get their own answers", "[control][server]") {
  RunningServer running;
  running.on_loop([&] {
    for (int i = 0; i < 32; ++i) running.target.records["r" + std::to_string(i)] = "value " + std::to_string(i);
  });
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int i = 0; i < 32; ++i) {
    threads.emplace_back([&, i] {
      RawClient client(running.path);
      for (int round = 0; round < 50; ++round) {
        RawAnswer got = client.ask("GET", "/v1/config?name=r" + std::to_string(i));
        if (got.content.find("\"value\":\"value " + std::to_string(i) + "\"") != std::string::npos) ++right;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(right == 32 * 50);
}

TEST_CASE("Server: another user gets 403 even if the socket's mode lets it in", "[control][server][peer]") {
  if (::geteuid() != 0) {
    WARN("needs root: may_command() is tested alone");
    return;
  }
  RunningServer running;
  REQUIRE(::chmod(running.folder.path().c_str(), 0755) == 0);
  REQUIRE(::chmod(running.path.c_str(), 0666) == 0);
  int answers[2];
  REQUIRE(::pipe(answers) == 0);
  pid_t child = ::fork();
  if (child == 0) {
    if (::setgid(65534) != 0 || ::setuid(65534) != 0) ::_exit(2);
    // Only system calls from here on: the parent has threads.
    int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address = socket_address(running.path);
    if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) ::_exit(3);
    const char request[] = "POST /v1/stop HTTP/1.1\r\n\r\n";
    [[maybe_unused]] ssize_t sent = ::send(socket, request, sizeof request - 1, MSG_NOSIGNAL);
    char bytes[4096];
    for (ssize_t n; (n = ::recv(socket, bytes, sizeof bytes, 0)) > 0;) {
      if (::write(answers[1], bytes, static_cast<std::size_t>(n)) != n) ::_exit(4);
    }
    ::_exit(0);
  }
  ::close(answers[1]);
  std::string answer;
  char bytes[4096];
  for (ssize_t n; (n = ::read(answers[0], bytes, sizeof bytes)) > 0;) answer.append(bytes, static_cast<std::size_t>(n));
  ::close(answers[0]);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(answer.find("HTTP/1.1 403 Forbidden\r\n") == 0);
  CHECK(answer.find("only user 0 and root may use this control socket") != std::string::npos);
  running.on_loop([&] { CHECK(running.target.stops == 0); });
}

TEST_CASE("Server: another user cannot even connect to the socket as it is made", "[control][server][peer]") {
  if (::geteuid() != 0) return;
  RunningServer running;
  REQUIRE(::chmod(running.folder.path().c_str(), 0755) == 0);
  pid_t child = ::fork();
  if (child == 0) {
    if (::setgid(65534) != 0 || ::setuid(65534) != 0) ::_exit(255);
    int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address = socket_address(running.path);
    ::_exit(::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ? 0 : errno);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == EACCES);
}

TEST_CASE("Server: a second one on the same path is refused, the first stays reachable", "[control][server]") {
  RunningServer running;
  boost::asio::io_context loop;
  FakeTarget target;
  auto second = Server::open(loop, target, running.path);
  REQUIRE_FALSE(second);
  CHECK(second.error().find("is listening there already") != std::string::npos);
  RawClient client(running.path);
  CHECK(client.ask("GET", "/v1/status").status == 200);
}
