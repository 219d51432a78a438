// SPDX-License-Identifier: Apache-2.0
#pragma once
// Follow: the transactions somebody waits for, to see their lines and no others'.
//
// While nobody waits it costs a transaction one load. One that matches has its context carry the lease's id.
//
//   wanted                                what becomes of a transaction that matches
//   the next one                          it is the one: its lines are captured until it ends
//   the next N, or those that end so      its lines are held, and its end decides (capture.h); of those that fit
//                                         the first N are shown
//
// **Thread safety:** thread-safe. Workers call offer() and end(), the main thread the rest.

#include <atomic>
#include <bitset>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <telltale/diag/scope.h>

#include "http/request_head.h"

namespace telltale::txn {

class Follow {
 public:
  using Matches = std::function<bool(const http::RequestHead&, const diag::Client*)>;
  // How a transaction ended.
  struct End {
    std::uint16_t status = 0;  // of the answer; 0: there was none
    std::chrono::microseconds time{};
  };
  // What it must be like at its end; all that is given has to hold.
  struct Wanted {
    std::optional<std::bitset<600>> statuses = {};  // 0: no answer
    std::optional<std::chrono::microseconds> slower_than = {};
    unsigned count = 1;  // so many transactions

    bool streams() const { return count == 1 && !statuses && !slower_than; }
    bool fits(const End& end) const {
      return (!statuses || (end.status < statuses->size() && (*statuses)[end.status])) &&
             (!slower_than || end.time > *slower_than);
    }
  };
  struct Shown {
    std::uint64_t transaction = 0;
    End end = {};
  };

  enum class State : std::uint8_t { kNobodyWaits, kWaiting, kUnderWay, kEnded };
  struct Now {
    State state = State::kNobodyWaits;
    std::uint64_t lease = 0;
    std::uint64_t transaction = 0;   // the next one, or the last of `shown`
    std::vector<Shown> shown = {};   // of those that are held: that have ended and fit, at most Wanted::count
  };

  // REQUIRES: nobody waits; and of what does not stream, hold_begin().
  void begin(std::uint64_t lease, Matches matches, Wanted wanted);
  // Nobody waits any more.
  void stop();
  Now now() const;

  // Is this one of them? Then `context` follows from here on. Called with the first line of it still to come.
  bool offer(const http::RequestHead& request, diag::Context& context) {
    return waiting_.load(std::memory_order_relaxed) && claim(request, context);
  }
  // A transaction that offer() said true to has written its last line.
  void end(const diag::Context& context, End end);

 private:
  bool claim(const http::RequestHead& request, diag::Context& context);

  // Only a hint, which orders nothing: claim() looks again under the mutex.
  std::atomic<bool> waiting_{false};
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  Now now_;
  std::shared_ptr<const Matches> matches_;
  Wanted wanted_;
};

}  // namespace telltale::txn
