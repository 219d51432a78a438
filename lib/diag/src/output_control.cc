// SPDX-License-Identifier: Apache-2.0
// See output_control.h.
#include "output_control.h"

#include <algorithm>
#include <new>
#include <utility>

#include "backend.h"
#include "backend_wake.h"
#include "ring_table.h"

namespace telltale::diag {

OutputControl& output_control() noexcept {
  alignas(OutputControl) static char memory[sizeof(OutputControl)];
  static OutputControl* control = new (memory) OutputControl;
  return *control;
}

Positions published_positions() noexcept {
  Positions all{};
  RingTable& rings = ring_table();
  for (std::size_t i = 0; i < rings.size(); ++i) all[i] = rings[i].published();
  return all;
}

bool OutputControl::start_locked() {
  if (!running_) {
    if (!start_backend_thread()) return false;
    running_ = started_ = true;
  }
  return true;
}

bool OutputControl::submit(OutputChange change, bool start) {
  {
    std::lock_guard lock(mutex_);
    // The first configuration also takes what was written before it; see output.h.
    if (started_) change.upto = published_positions();
    bool extra_only = change.extra && !change.targets;
    if (extra_only && !queue_.empty() && queue_.back().extra && !queue_.back().targets && !queue_.back().stop) {
      queue_.back().extra = std::move(change.extra);
      return true;
    }
    if (queue_.size() >= kChangesMax) return false;
    change.number = ++last_number_;
    queue_.push_back(std::move(change));
    if (start && !start_locked()) {
      queue_.pop_back();
      return false;
    }
  }
  wake_backend_surely();
  return true;
}

bool OutputControl::start() {
  std::lock_guard lock(mutex_);
  return start_locked();
}

bool OutputControl::ever_started() noexcept {
  std::lock_guard lock(mutex_);
  return started_;
}

bool OutputControl::stop_waits() noexcept {
  std::lock_guard lock(mutex_);
  return running_ && !queue_.empty() && queue_.back().stop;
}

bool OutputControl::all_written(const Positions& upto) const noexcept {
  for (std::size_t i = 0; i < upto.size(); ++i) {
    if (written_[i] < upto[i]) return false;
  }
  return true;
}

bool OutputControl::wait_written(const Positions& upto, Deadline deadline) noexcept {
  if (in_backend_thread()) return false;
  std::unique_lock lock(mutex_);
  if (!running_ || all_written(upto)) return all_written(upto);
  ++waiting_;
  wake_backend_surely();
  bool done = changed_.wait_until(lock, deadline, [&] { return all_written(upto) || !running_; });
  --waiting_;
  return done && all_written(upto);
}

bool OutputControl::wait_applied(Deadline deadline) noexcept {
  if (in_backend_thread()) return false;
  std::unique_lock lock(mutex_);
  std::uint64_t number = last_number_;
  if (!running_) return finished_ >= number;
  std::uint64_t show = ++last_show_;
  wake_backend_surely();
  changed_.wait_until(lock, deadline, [&] { return (finished_ >= number && shown_ >= show) || !running_; });
  return finished_ >= number;
}

void OutputControl::publish(std::vector<SinkState> sinks, std::optional<std::vector<DropState>> losses, std::uint64_t show) {
  std::lock_guard lock(mutex_);
  sinks_.swap(sinks);
  if (losses) sink_losses_.swap(*losses);
  if (show == 0) return;
  shown_ = show;
  changed_.notify_all();
}

std::vector<SinkState> OutputControl::sinks() {
  std::lock_guard lock(mutex_);
  return sinks_;
}

std::vector<DropState> OutputControl::sink_losses() {
  std::lock_guard lock(mutex_);
  return sink_losses_;
}

bool OutputControl::stop(Deadline deadline) {
  if (in_backend_thread()) return false;
  std::unique_lock lock(mutex_);
  if (!running_) return started_ || all_written(published_positions());
  // Of many stops at once the last ones share one.
  if (queue_.size() < kChangesMax || !queue_.back().stop) {
    OutputChange change;
    change.upto = published_positions();
    change.stop = true;
    change.number = ++last_number_;
    queue_.push_back(std::move(change));
  }
  std::uint64_t number = queue_.back().number;
  wake_backend_surely();
  return changed_.wait_until(lock, deadline, [&] { return finished_ >= number || !running_; });
}

OutputPlan OutputControl::plan() noexcept {
  std::lock_guard lock(mutex_);
  bool change = !queue_.empty();
  return {change ? queue_.front().upto : published_positions(), change, !change || queue_.front().stop,
          change || waiting_ > 0, last_show_ > shown_ ? last_show_ : 0};
}

bool OutputControl::hurry() noexcept {
  std::lock_guard lock(mutex_);
  return !queue_.empty() || waiting_ > 0 || last_show_ > shown_;
}

void OutputControl::report(const Positions& written) noexcept {
  std::lock_guard lock(mutex_);
  if (written == written_) return;
  written_ = written;
  if (waiting_ > 0) changed_.notify_all();
}

OutputChange OutputControl::take() {
  std::lock_guard lock(mutex_);
  OutputChange change = std::move(queue_.front());
  queue_.pop_front();
  return change;
}

bool OutputControl::finish(const OutputChange& change) noexcept {
  std::lock_guard lock(mutex_);
  finished_ = change.number;
  bool ends = change.stop && queue_.empty();
  if (ends) running_ = false;
  changed_.notify_all();
  return ends;
}

// The parent's waiters, queue and configuration mean nothing here. What its objects hold is left alone:
// destroying it could do in the parent's name what only the parent may do.
void OutputControl::forget() noexcept {
  if (!queue_.empty()) {
    of_parent_ = new std::deque<OutputChange>(std::move(queue_));
    queue_.clear();
  }
  new (&changed_) std::condition_variable;
  written_ = {};
  last_number_ = finished_ = 0;
  waiting_ = 0;
  running_ = started_ = false;
  sinks_.clear();
  sink_losses_.clear();
  last_show_ = shown_ = 0;
  counters.lines_written = counters.lines_lost = counters.sink_errors = 0;
  forked_ = true;
}

}  // namespace telltale::diag
