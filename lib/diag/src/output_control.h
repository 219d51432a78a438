// SPDX-License-Identifier: Apache-2.0
#pragma once
// OutputControl: what callers and the backend tell each other. Nothing of it is on a record's path.
//
// A change (new configuration, new extra sink, stop) carries the position every ring had when it was
// asked for. The backend drains up to there under the old state, then applies it: so lines written
// before the call go the old way and lines after it the new way, although nobody waits.
//
//   backend    submit()             flush            stop                     ends
//   never      applied first thing  false*           false*                   -
//   running    queued               waits            queued, waits            after the stop, if nothing is queued behind it
//   ended      queued; start()      false*           true                     -
//   (*: true if no record is waiting)
//
// **Thread safety:** thread-safe; one mutex, under which there are only memory writes. Lock order:
// OutputControl, RingTable, plugin names (all three only around fork()).

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <telltale/diag/output.h>

#include "binary_sink.h"
#include "file_sink.h"

namespace telltale::diag {

using Positions = std::array<std::uint64_t, kRingsMax>;  // by ring; rings not made yet have 0

// Everything published before the call.
Positions published_positions() noexcept;

struct OutputTargets {
  Routes routes = kRoutesToStderr;
  ShowLocation show_location = ShowLocation::kDebugLines;
  std::unique_ptr<FileSink> log_file;  // null = none
  std::string log_path;
  RollSettings roll;  // of all files
  std::unique_ptr<BinarySink> binary_file;  // null = none
  std::string binary_path;
  std::unique_ptr<FileSink> json_file;  // null = none
  std::string json_path;
  std::shared_ptr<EntrySink> syslog, journald;  // null = none
  std::string syslog_path, journald_path, identifier;
  unsigned facility = 0;  // of syslog and journald
  bool stderr_to_journal = false;  // what is for stderr goes to journald
};

// The embedding program's own: one of the two, or none.
struct ExtraSink {
  std::shared_ptr<Sink> lines;
  std::shared_ptr<EntrySink> entries;
};

struct OutputChange {
  std::uint64_t number = 0;
  Positions upto{};
  std::optional<OutputTargets> targets;
  std::optional<ExtraSink> extra;
  bool stop = false;
};

// What the backend shall do in its next pass. `upto` is read under the lock that changes are queued
// under: a record published after a change was asked for is never drained before the change is seen.
struct OutputPlan {
  Positions upto{};
  bool change = false;  // one waits to be taken when all up to `upto` is written
  bool losses = true;   // show what was dropped behind `upto`; not before a change, which the drop may have come after
  bool hurry = false;   // somebody waits: do not let young records ripen
  std::uint64_t show = 0;  // the sinks' states are waited for, by this number; 0: not
};

struct OutputCounters {
  std::atomic<std::uint64_t> lines_written{0}, lines_lost{0}, sink_errors{0};  // by the backend; relaxed: only numbers
};

class OutputControl {
 public:
  using Deadline = std::chrono::steady_clock::time_point;
  static constexpr std::size_t kChangesMax = 16;

  // Callers. False: kChangesMax are waiting (a sink blocks), or the backend thread cannot be made.
  bool submit(OutputChange change, bool start);
  bool start();  // with what is configured; stderr if nothing is
  bool wait_written(const Positions& upto, Deadline deadline) noexcept;
  // Every change that was asked for before; and sinks() says how they are now.
  bool wait_applied(Deadline deadline) noexcept;
  bool stop(Deadline deadline);
  std::vector<SinkState> sinks();
  std::vector<DropState> sink_losses();
  bool ever_started() noexcept;
  bool stop_waits() noexcept;  // one was asked for and has not happened, because a sink blocks

  // Backend.
  OutputPlan plan() noexcept;
  bool hurry() noexcept;
  void report(const Positions& written) noexcept;
  // `losses`: where they have changed.
  void publish(std::vector<SinkState> sinks, std::optional<std::vector<DropState>> losses, std::uint64_t show);
  OutputChange take();  // the oldest change, all up to it being written
  // It is applied. True: the backend ends now.
  bool finish(const OutputChange& change) noexcept;
  std::mutex& mutex() noexcept { return mutex_; }

  OutputCounters counters;

  // Around fork().
  void lock() noexcept { mutex_.lock(); }
  void unlock() noexcept { mutex_.unlock(); }
  void forget() noexcept;  // in the child, locked
  bool forked() const noexcept { return forked_; }

 private:
  bool start_locked();
  bool all_written(const Positions& upto) const noexcept;

  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::deque<OutputChange> queue_;
  std::uint64_t last_number_ = 0, finished_ = 0;
  Positions written_{};
  std::vector<SinkState> sinks_;
  std::vector<DropState> sink_losses_;
  std::uint64_t last_show_ = 0, shown_ = 0;
  int waiting_ = 0;
  bool running_ = false, started_ = false;
  std::atomic<bool> forked_{false};
  std::deque<OutputChange>* of_parent_ = nullptr;  // in a forked child: left alone
};

// The one; immortal.
OutputControl& output_control() noexcept;

}  // namespace telltale::diag
