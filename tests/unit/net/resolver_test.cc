// SPDX-License-Identifier: Apache-2.0
#include "net/resolver.h"

#include <catch2/catch.hpp>
#include <condition_variable>
#include <cstring>
#include <future>
#include <mutex>
#include <vector>

#include <netdb.h>

#include "tests/unit/net/on_worker.h"

namespace telltale::net {
namespace {

using namespace std::chrono_literals;
using test::OnWorker;

// Takes the place of getaddrinfo(3): holds every caller until it is opened, then lets the real one answer a literal.
// Shared with the resolver's threads, which outlive the test's objects.
class NameServer {
 public:
  int answer(const char* host, const addrinfo* hints, addrinfo** list) {
    std::unique_lock guard(lock_);
    ++asked_;
    changed_.notify_all();
    changed_.wait(guard, [this] { return open_; });
    if (std::strcmp(host, "unknown.test") == 0) {
      return EAI_NONAME;
    }
    if (std::strcmp(host, "broken.test") == 0) {
      return EAI_AGAIN;
    }
    return ::getaddrinfo("192.0.2.9", nullptr, hints, list);
  }
  void open() {
    const std::lock_guard guard(lock_);
    open_ = true;
    changed_.notify_all();
  }
  void wait_until_asked(int times) {
    std::unique_lock guard(lock_);
    changed_.wait(guard, [&] { return asked_ >= times; });
  }

 private:
  std::mutex lock_;
  std::condition_variable changed_;
  bool open_ = false;
  int asked_ = 0;
};

Resolver::Options with(const std::shared_ptr<NameServer>& server) {
  Resolver::Options options;
  options.getaddrinfo = [server](const char* host, const char*, const addrinfo* hints, addrinfo** list) {
    return server->answer(host, hints, list);
  };
  return options;
}

struct Question {
  Question(OnWorker& on, Resolver& resolver, std::string host) : future(result.get_future()) {
    on.call([&] { ask(on.worker(), resolver, std::move(host), result); });
  }
  static Detached ask(Worker& worker, Resolver& resolver, std::string host, std::promise<ResolveResult>& result) {
    result.set_value(co_await resolver.resolve(worker, std::move(host), 80, worker.now() + 5s));
  }
  std::promise<ResolveResult> result;
  std::future<ResolveResult> future;
};

std::string first_of(const ResolveResult& result) {
  return result ? fmt::format("{}", result->front()) : result.error().text;
}

TEST_CASE("resolve: a literal address is answered within the call, without a thread", "[net][resolver]") {
  OnWorker on;
  const auto server = std::make_shared<NameServer>();
  Resolver resolver(with(server));
  for (const auto& [host, expected] : std::vector<std::pair<std::string, std::string>>{
           {"127.0.0.1", "127.0.0.1:80"}, {"::1", "[::1]:80"}, {"[::1]", "[::1]:80"}}) {
    Question question(on, resolver, host);
    REQUIRE(question.future.wait_for(0s) == std::future_status::ready);
    CHECK(first_of(question.future.get()) == expected);
  }
}

TEST_CASE("resolve: a name is answered on the worker that asked", "[net][resolver]") {
  OnWorker on;
  const auto server = std::make_shared<NameServer>();
  server->open();
  Resolver resolver(with(server));
  CHECK(first_of(Question(on, resolver, "origin.test").future.get()) == "192.0.2.9:80");
}

TEST_CASE("resolve: the system's own resolver knows localhost", "[net][resolver]") {
  OnWorker on;
  std::promise<ResolveResult> result;
  on.call([&] {
    [](Worker& worker, std::promise<ResolveResult>& to) -> Detached {
      to.set_value(co_await resolve(worker, "localhost", 9000, worker.now() + 5s));
    }(on.worker(), result);
  });
  const ResolveResult answer = result.get_future().get();
  REQUIRE(answer);
  for (const Endpoint& endpoint : *answer) {
    CHECK(endpoint.port() == 9000);
    CHECK((endpoint.address_text() == "127.0.0.1" || endpoint.address_text() == "::1"));
  }
}

TEST_CASE("resolve: a name that does not exist and a name server that fails are told apart", "[net][resolver]") {
  OnWorker on;
  const auto server = std::make_shared<NameServer>();
  server->open();
  Resolver resolver(with(server));
  CHECK(Question(on, resolver, "unknown.test").future.get().error().kind == ResolveFailure::kNotFound);
  CHECK(Question(on, resolver, "broken.test").future.get().error().kind == ResolveFailure::kTemporary);
}

TEST_CASE("resolve: what cannot be a name is not looked up", "[net][resolver]") {
  OnWorker on;
  const auto server = std::make_shared<NameServer>();  // never answers
  Resolver resolver(with(server));
  for (const std::string& host : {std::string(), std::string("a\0b", 3), std::string(254, 'a')}) {
    CHECK(Question(on, resolver, host).future.get().error().kind == ResolveFailure::kNotFound);
  }
}

TEST_CASE("resolve: without an answer it ends at the deadline, and the late answer hurts nobody", "[net][resolver]") {
  const auto server = std::make_shared<NameServer>();
  OnWorker on;
  Resolver resolver(with(server));
  Question question(on, resolver, "origin.test");
  server->wait_until_asked(1);
  on.advance(5s);
  CHECK(question.future.get().error().kind == ResolveFailure::kTimeout);
  server->open();
  CHECK(first_of(Question(on, resolver, "origin.test").future.get()) == "192.0.2.9:80");
}

TEST_CASE("resolve: a worker that stops does not wait for the answer, which may come when it is gone",
          "[net][resolver]") {
  const auto server = std::make_shared<NameServer>();
  Resolver resolver(with(server));
  {
    OnWorker on;
    Question question(on, resolver, "origin.test");
    server->wait_until_asked(1);
    on.join();
    CHECK(question.future.get().error().kind == ResolveFailure::kShutdown);
  }
  server->open();
  OnWorker other;
  CHECK(first_of(Question(other, resolver, "origin.test").future.get()) == "192.0.2.9:80");
}

TEST_CASE("resolve: slow names do not hold up others while a thread is free", "[net][resolver]") {
  OnWorker on;
  const auto server = std::make_shared<NameServer>();
  Resolver resolver(with(server));
  std::vector<std::unique_ptr<Question>> questions;
  for (int i = 0; i < 4; ++i) {
    questions.push_back(std::make_unique<Question>(on, resolver, "origin.test"));
  }
  server->wait_until_asked(4);  // all at once
  server->open();
  for (const auto& question : questions) {
    CHECK(question->future.get());
  }
}

TEST_CASE("resolve: as many look-ups wait as the limit says, the one beyond is refused", "[net][resolver]") {
  OnWorker on;
  const auto server = std::make_shared<NameServer>();
  Resolver::Options options = with(server);
  options.threads_max = 1;
  options.waiting_max = 3;
  Resolver resolver(options);
  std::vector<std::unique_ptr<Question>> questions;
  questions.push_back(std::make_unique<Question>(on, resolver, "origin.test"));
  server->wait_until_asked(1);  // taken by the one thread
  for (int i = 0; i < 3; ++i) {
    questions.push_back(std::make_unique<Question>(on, resolver, "origin.test"));
  }
  Question beyond(on, resolver, "origin.test");
  CHECK(beyond.future.get().error().kind == ResolveFailure::kOverloaded);
  server->open();
  for (const auto& question : questions) {
    CHECK(question->future.get());
  }
}

}  // namespace
}  // namespace telltale::net
