// SPDX-License-Identifier: Apache-2.0
#pragma once
// Hooks: the points of a transaction where plugins take part, and how one suspends.
//
// At each point the hooks of that point are called in the order they were added. Each says "go on", or
// refuses, or suspends: the transaction then stands still, without holding up its worker, until somebody calls
// reenable() with its ticket, from any thread, even before the hook has returned. Behind the hooks of all
// transactions come those that were added to this one.
//
// **Thread safety:** HookTable is immutable once workers run; reenable() is thread-safe; all else loop-bound.

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <telltale/diag/scope.h>

#include "net/gate.h"
#include "net/task.h"

namespace telltale::net {
class Worker;
}

namespace telltale::txn {

class Transaction;

enum class Hook : std::uint8_t { kTxnStart, kReadRequest, kSendResponse, kTxnClose };
inline constexpr std::size_t kHooks = 4;
inline constexpr std::size_t kTxnHooksMax = 1024;  // that are added to one transaction, beside those of all
std::string_view hook_name(Hook hook) noexcept;

enum class Next : std::uint8_t {
  kContinue,  // go on
  kSuspend,   // wait for reenable()
  kRefuse,    // answer with an error
};

// Where a suspended hook goes on. Copyable, and usable after the transaction and even its worker have ended: then
// it does nothing, as where the hook did not suspend.
class Ticket {
 public:
  // Lets the transaction go on; `ok` false makes it answer with an error instead. Only the first call counts.
  // Cost: two locks that nobody holds for long.
  void reenable(bool ok = true) const;

 private:
  friend class HookRunner;
  struct State;
  explicit Ticket(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;  // shared by the transaction and whoever holds the ticket
};

using HookFunction = std::function<Next(Transaction&, const Ticket&)>;

class HookTable {
 public:
  void add(Hook hook, std::string plugin, HookFunction function);

 private:
  friend class HookRunner;
  struct Entry {
    std::string plugin;
    std::uint32_t plugin_number;  // of the diag library, for the scope
    HookFunction function;
  };
  std::array<std::deque<Entry>, kHooks> entries_;  // an entry stays where it is when others are added
  std::uint8_t used_ = 0;                          // bit n: hook n has entries
};

// Runs one transaction's hooks.
class HookRunner {
 public:
  HookRunner(const HookTable& table, net::Worker& worker) : used_(table.used_), table_(table), worker_(worker) {}

  // Nothing is called at this point. Cost: one load, no frame.
  bool idle(Hook hook) const noexcept { return (used_ & 1U << static_cast<unsigned>(hook)) == 0; }
  // False: a hook refused, or the worker stops.
  net::Task<bool> run(Hook hook, Transaction& transaction);

  // For this transaction alone. May be called from its hooks, also for the hook that is running. False: it has as
  // many as it may have.
  [[nodiscard]] bool add(Hook hook, std::string plugin, HookFunction function);

  // What hooks keep of this transaction; it ends with it.
  class State {
   public:
    virtual ~State() = default;
    // A suspended hook is given up, because the worker stops.
    virtual void interrupted() noexcept = 0;
  };
  std::unique_ptr<State> state;

  // The scope of the hook that is being called; null between them.
  diag::Context* context() noexcept { return context_; }

 private:
  net::Task<bool> run_one(Hook hook, const HookTable::Entry& entry, Transaction& transaction);

  std::uint8_t used_;
  const HookTable& table_;
  net::Worker& worker_;
  std::unique_ptr<HookTable> own_;  // null: none was added
  std::size_t own_count_ = 0;
  diag::Context* context_ = nullptr;
};

}  // namespace telltale::txn
