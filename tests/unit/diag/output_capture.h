// SPDX-License-Identifier: Apache-2.0
#pragma once
// Capture: for its lifetime all lines go to memory. The test can hold the backend inside its sink, which
// is how a slow sink, a full ring and a gap are made without waiting for anything.
//
// **Thread safety:** thread-safe. One at a time.

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include <telltale/diag/output.h>
#include <telltale/diag/throttle.h>

namespace telltale::diag {

inline constexpr std::chrono::seconds kLongEnough{60};  // no test waits for it to pass

class Capture {
 public:
  // Lines come however often they repeat themselves: nothing is throttled.
  explicit Capture(ShowLocation show = ShowLocation::kDebugLines) : sink_(std::make_shared<Memory>()) {
    set_throttle({.interval = std::chrono::milliseconds{0}});
    OutputConfig config;
    config.routes.fill(kToExtra);
    config.show_location = show;
    set_extra_sink(sink_);
    if (!configure_output(config)) throw std::runtime_error("output cannot be configured");
    flush_output(kLongEnough);
    sink_->take();
  }
  ~Capture() {
    release();
    flush_output(kLongEnough);
    (void)configure_output({});
    set_extra_sink(nullptr);
    flush_output(kLongEnough);
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  // From the next batch on, the backend stays in write() until release(). Returns once it is in there;
  // `line` must make it write one.
  template <class Line>
  void hold(Line line) {
    sink_->hold();
    line();
    sink_->wait_held();
  }
  void release() { sink_->release(); }

  // What has come since the last call, after a flush.
  std::string text() {
    flush_output(kLongEnough);
    return sink_->take();
  }
  std::vector<std::string> lines() {
    std::vector<std::string> all;
    std::istringstream in(text());
    for (std::string line; std::getline(in, line);) all.push_back(line);
    return all;
  }

 private:
  class Memory : public Sink {
   public:
    bool write(std::string_view lines) noexcept override {
      std::unique_lock lock(mutex_);
      text_ += lines;
      if (holding_) {
        held_ = true;
        changed_.notify_all();
        changed_.wait(lock, [this] { return !holding_; });
        held_ = false;
      }
      return true;
    }
    void hold() {
      std::lock_guard lock(mutex_);
      holding_ = true;
    }
    void wait_held() {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return held_; });
    }
    void release() {
      std::lock_guard lock(mutex_);
      holding_ = false;
      changed_.notify_all();
    }
    std::string take() {
      std::lock_guard lock(mutex_);
      return std::exchange(text_, {});
    }

   private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::string text_;
    bool holding_ = false, held_ = false;
  };
  std::shared_ptr<Memory> sink_;
};

}  // namespace telltale::diag
