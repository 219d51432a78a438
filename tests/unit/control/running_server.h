// SPDX-License-Identifier: Apache-2.0
#pragma once
// A Server with a FakeTarget, in a folder of its own, its event loop on a thread.

#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "control/server.h"
#include "tests/unit/control/fake_target.h"
#include "tests/unit/control/temp_dir.h"

namespace telltale::control {

class RunningServer {
 public:
  explicit RunningServer(const ServerLimits& limits = {}) : path(folder / "control.sock") {
    auto opened = Server::open(loop_, target, path, limits);
    if (!opened) throw std::runtime_error(opened.error());
    server = std::move(*opened);
    thread_ = std::thread([this] { loop_.run(); });
  }
  ~RunningServer() {
    on_loop([this] { server.reset(); });
    guard_.reset();
    thread_.join();
  }

  // Runs on the server's thread, and returns when it has run.
  template <class Call>
  void on_loop(Call call) {
    std::packaged_task<void()> task(std::move(call));
    auto done = task.get_future();
    boost::asio::post(loop_, std::move(task));
    done.get();
  }
  // Runs on the caller's thread while the server's loop stands still: what is connected and sent by then
  // is all there when the server looks, however busy the machine.
  template <class Call>
  void while_held(Call call) {
    std::promise<void> held, go_on;
    boost::asio::post(loop_, [&] {
      held.set_value();
      go_on.get_future().wait();
    });
    held.get_future().wait();
    call();
    go_on.set_value();
    on_loop([] {});  // the promises are this function's
  }
  // Once `reached` holds on the server's thread; looked at after each of the loop's turns.
  template <class Condition>
  void wait_until(Condition reached) {
    for (bool is = false; !is;) {
      on_loop([&] { is = reached(); });
      std::this_thread::yield();
    }
  }

  TempDir folder;
  const std::string path;
  FakeTarget target;
  std::unique_ptr<Server> server;

 private:
  boost::asio::io_context loop_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> guard_{loop_.get_executor()};
  std::thread thread_;
};

}  // namespace telltale::control
