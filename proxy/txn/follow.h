// SPDX-License-Identifier: Apache-2.0
#pragma once
// Follow: the one transaction somebody waits for, to see its lines and no other's.
//
// While nobody waits it costs a transaction one load. A transaction that matches claims the follow; its
// context then carries the lease's id, and the diag library captures its lines until it ends.
//
// **Thread safety:** thread-safe. Workers call offer() and end(), the main thread the rest.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

#include <telltale/diag/scope.h>

#include "http/request_head.h"

namespace telltale::txn {

class Follow {
 public:
  using Matches = std::function<bool(const http::RequestHead&, const diag::Client*)>;
  enum class State : std::uint8_t { kNobodyWaits, kWaiting, kUnderWay, kEnded };
  struct Now {
    State state = State::kNobodyWaits;
    std::uint64_t lease = 0;
    std::uint64_t transaction = 0;
  };

  // Waits for the next transaction. REQUIRES: nobody waits.
  void begin(std::uint64_t lease, Matches matches);
  // Nobody waits any more.
  void stop();
  Now now() const;

  // Is this the one? Then `context` follows from here on. Called with the first line of it still to come.
  bool offer(const http::RequestHead& request, diag::Context& context) {
    return waiting_.load(std::memory_order_relaxed) && claim(request, context);
  }
  // A transaction that offer() said true to has written its last line.
  void end(std::uint64_t transaction);

 private:
  bool claim(const http::RequestHead& request, diag::Context& context);

  // Only a hint, which orders nothing: claim() looks again under the mutex.
  std::atomic<bool> waiting_{false};
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  Now now_;
  std::shared_ptr<const Matches> matches_;
};

}  // namespace telltale::txn
