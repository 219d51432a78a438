// SPDX-License-Identifier: Apache-2.0
#include "net/worker.h"

#include <catch2/catch.hpp>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <pthread.h>

#include "tests/unit/net/on_worker.h"

namespace telltale::net {
namespace {

using namespace std::chrono_literals;
using test::OnWorker;

TEST_CASE("Worker: posts of each thread run in their order, all of them, on the worker", "[net][worker]") {
  constexpr int kThreads = 4;
  constexpr int kPosts = 5000;
  OnWorker on;
  std::vector<std::vector<int>> seen(kThreads);
  std::atomic<bool> elsewhere{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kPosts; ++i) {
        on.worker().post([&, t, i] {
          seen[static_cast<std::size_t>(t)].push_back(i);
          if (Worker::current() != &on.worker()) {
            elsewhere = true;
          }
        });
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  on.call([] {});
  CHECK_FALSE(elsewhere);
  std::vector<int> all(kPosts);
  for (int i = 0; i < kPosts; ++i) {
    all[static_cast<std::size_t>(i)] = i;
  }
  for (const auto& order : seen) {
    CHECK((order == all));
  }
}

TEST_CASE("Worker: a post from the worker itself runs later, not within the call", "[net][worker]") {
  OnWorker on;
  std::vector<std::string> log;
  on.call_and_settle([&] {
    on.worker().post([&] { log.push_back("posted"); });
    log.push_back("after post");
  });
  on.join();
  CHECK(log == std::vector<std::string>{"after post", "posted"});
}

TEST_CASE("Worker: a post runs without the diag context of whoever posted", "[net][worker]") {
  OnWorker on;
  const diag::Context poster{.connection = 1};
  const diag::Scope scope(&poster);
  CHECK(on.call([] { return diag::current_context(); }) == nullptr);
}

TEST_CASE("Worker: a function that was posted too late is destroyed, not run", "[net][worker]") {
  const auto held = std::make_shared<int>(0);
  {
    OnWorker on;
    on.join();
    on.worker().post([held] { ++*held; });
  }
  CHECK(*held == 0);
  CHECK(held.use_count() == 1);
}

TEST_CASE("Worker: its thread bears its name, cut to what the kernel keeps", "[net][worker]") {
  OnWorker on("worker-with-a-long-name");
  const std::string name = on.call([] {
    std::array<char, 16> text{};
    ::pthread_getname_np(::pthread_self(), text.data(), text.size());
    return std::string(text.data());
  });
  CHECK(name == "worker-with-a-l");
}

TEST_CASE("Worker: now does not move within a turn and follows the clock between turns", "[net][worker]") {
  OnWorker on;
  const auto [before, within] = on.call([&] {
    const SteadyTime first = on.worker().now();
    on.clock().advance(1h);
    return std::pair(first, on.worker().now());
  });
  CHECK(before == within);
  CHECK(on.call([&] { return on.worker().now(); }) == before + 1h);
  CHECK(on.call([&] { return on.worker().wall_now(); }) == on.clock().system_now());
}

TEST_CASE("Worker: a sleeper wakes when its time has come, not before", "[net][worker]") {
  OnWorker on;
  std::atomic<int> woken{0};
  on.call_and_settle([&] {
    [](Worker& worker, std::atomic<int>& n) -> Detached {
      if (co_await worker.sleep_until(worker.now() + 10s)) {
        n = 1;
      }
    }(on.worker(), woken);
  });
  on.advance(9999ms);
  CHECK(woken == 0);
  on.advance(1ms);
  CHECK(woken == 1);
}

TEST_CASE("Worker: sleeping until a time that has passed does not suspend", "[net][worker]") {
  OnWorker on;
  CHECK(on.call([&] {
    bool at_once = false;
    [](Worker& worker, bool& done) -> Detached { done = co_await worker.sleep_until(worker.now()); }(on.worker(),
                                                                                                     at_once);
    return at_once;
  }));
}

TEST_CASE("Worker: yield lets what is ready run first", "[net][worker]") {
  OnWorker on;
  std::vector<std::string> log;
  on.call_and_settle([&] {
    for (const char* name : {"a", "b"}) {
      [](Worker& worker, std::vector<std::string>& lines, std::string who) -> Detached {
        for (int i = 1; i <= 2; ++i) {
          lines.push_back(who + std::to_string(i));
          co_await worker.yield();
        }
      }(on.worker(), log, name);
    }
  });
  on.join();
  CHECK(log == std::vector<std::string>{"a1", "b1", "a2", "b2"});
}

TEST_CASE("Worker: yielding a hundred thousand times does not grow the stack", "[net][worker]") {
  OnWorker on;
  std::promise<int> done;
  on.worker().post([&] {
    [](Worker& worker, std::promise<int>& result) -> Detached {
      int i = 0;
      for (; i < 100'000; ++i) {
        co_await worker.yield();
      }
      result.set_value(i);
    }(on.worker(), done);
  });
  CHECK(done.get_future().get() == 100'000);
}

TEST_CASE("Worker: the deadline of a stream fires at the tick after it", "[net][worker]") {
  OnWorker on;
  test::SocketPair pair;
  std::promise<Wake> woken;
  auto future = woken.get_future();
  on.call([&] {
    [](Worker& worker, UniqueFd fd, std::promise<Wake>& result) -> Detached {
      Stream stream(worker, std::move(fd), Endpoint{});
      stream.set_deadline(worker.now() + 30s);
      const Wake wake = co_await stream.readable();
      stream.close();
      result.set_value(wake);
    }(on.worker(), std::move(pair.ours), woken);
  });
  on.advance(29s);
  CHECK(future.wait_for(0s) == std::future_status::timeout);
  on.advance(1s);
  CHECK(future.get() == Wake::kTimeout);
}

// Waits in every way there is; holds `alive` while its frame lives.
struct Suspended {
  std::vector<Wake> wakes;
  std::shared_ptr<int> alive = std::make_shared<int>();

  void start(Worker& worker, UniqueFd reader, UniqueFd full_writer) {
    on_readable(worker, std::move(reader), alive);
    on_writable(worker, std::move(full_writer), alive);
    on_gate(worker, alive);
    on_sleep(worker, alive);
  }

 private:
  Detached on_readable(Worker& worker, UniqueFd fd, std::shared_ptr<int>) {
    Stream stream(worker, std::move(fd), Endpoint{});
    wakes.push_back(co_await stream.readable());
    wakes.push_back(co_await stream.readable());
  }
  Detached on_writable(Worker& worker, UniqueFd fd, std::shared_ptr<int>) {
    Stream stream(worker, std::move(fd), Endpoint{});
    wakes.push_back(co_await stream.writable());
  }
  Detached on_gate(Worker& worker, std::shared_ptr<int>) {
    Gate gate(worker);
    wakes.push_back(co_await gate.wait());
  }
  Detached on_sleep(Worker& worker, std::shared_ptr<int>) {
    wakes.push_back(co_await worker.sleep_until(kNever) ? Wake::kTimeout : Wake::kShutdown);
  }
};

TEST_CASE("Worker: stopping resumes every suspended coroutine, frees its frame, and run returns", "[net][worker]") {
  test::SocketPair reader;
  test::SocketPair writer;
  for (char c = 0; ::send(writer.ours.get(), &c, 1, MSG_NOSIGNAL) == 1;) {
  }
  Suspended suspended;
  OnWorker on;
  on.call_and_settle([&] { suspended.start(on.worker(), std::move(reader.ours), std::move(writer.ours)); });
  CHECK(suspended.alive.use_count() == 5);
  on.worker().stop();
  on.wait();
  CHECK(suspended.alive.use_count() == 1);
  CHECK(suspended.wakes == std::vector<Wake>(5, Wake::kShutdown));
}

// One exchange after the other on a socket, as a session: idle between them.
Detached echo_session(Worker& worker, UniqueFd fd, std::vector<std::string>& log) {
  Stream stream(worker, std::move(fd), Endpoint{});
  std::array<char, 64> buffer;
  while (co_await stream.idle_readable() == Wake::kReady) {
    std::string request;
    while (request.empty() || request.back() != '.') {
      const Io io = stream.recv(buffer);
      if (io.state == Io::kOk) {
        request.append(buffer.data(), io.bytes);
      } else if (io.state != Io::kWantRead) {
        co_return;
      } else if (co_await stream.readable() != Wake::kReady) {
        log.push_back("cut off");
        co_return;
      }
    }
    log.push_back(request);
  }
  log.push_back("idle end");
}

TEST_CASE("Worker: while it drains, exchanges under way are finished and idle connections end", "[net][worker]") {
  test::SocketPair idle;
  test::SocketPair busy;
  std::vector<std::string> log;
  OnWorker on;
  on.call([&] {
    echo_session(on.worker(), std::move(idle.ours), log);
    echo_session(on.worker(), std::move(busy.ours), log);
    test::write_text(busy.peer, "half ");
  });
  on.settle();
  on.worker().stop(60s);
  on.settle();
  CHECK(on.call([&] { return log; }) == std::vector<std::string>{"idle end"});

  SECTION("the exchange ends in time") {
    test::write_text(busy.peer, "whole.");
    on.wait();
    CHECK(log == std::vector<std::string>{"idle end", "half whole.", "idle end"});
  }
  SECTION("the drain time passes first") {
    on.advance(59s);
    CHECK(on.call([&] { return log.size(); }) == 1);
    on.clock().advance(1s);
    on.worker().post([&] { on.worker().tick(); });
    on.wait();
    CHECK(log == std::vector<std::string>{"idle end", "cut off"});
  }
}

TEST_CASE("Worker: it ends in spite of a coroutine that waits for something unknown", "[net][worker]") {
  struct Unknown {
    Waiter& waiter;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> coroutine) const noexcept { waiter.suspend(coroutine); }
    void await_resume() const noexcept {}
  };
  Waiter waiter;
  ManualClock clock;
  Worker worker({.clock = &clock});
  const std::size_t others = Detached::live();
  worker.post([&] { [](Waiter& at) -> Detached { co_await Unknown{at}; }(waiter); });
  worker.stop();
  bool ended_early = true;
  worker.post([&] { ended_early = false; });
  worker.post([&] {
    clock.advance(1s);
    worker.tick();
  });
  worker.run();
  CHECK_FALSE(ended_early);
  CHECK(waiter.waiting());
  waiter.resume(Wake::kShutdown);
  CHECK(Detached::live() == others);
}

TEST_CASE("Worker: it may be told to stop before it runs", "[net][worker]") {
  Worker worker({});
  worker.stop();
  worker.run();
  CHECK(worker.stopping());
}

}  // namespace
}  // namespace telltale::net
