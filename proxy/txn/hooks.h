// SPDX-License-Identifier: Apache-2.0
#pragma once
// Hooks: the points of a transaction where plugins take part, and how one suspends.
//
// At each point the hooks of that point are called in the order they were added. Each says "go on", or
// suspends: the transaction then stands still, without holding up its worker, until somebody calls
// reenable() with its ticket, from any thread, even before the hook has returned.
//
// **Thread safety:** HookTable is immutable once workers run; reenable() is thread-safe; all else loop-bound.

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "net/gate.h"
#include "net/task.h"

namespace telltale::net {
class Worker;
}

namespace telltale::txn {

class Transaction;

enum class Hook : std::uint8_t { kTxnStart, kReadRequest, kSendResponse, kTxnClose };
inline constexpr std::size_t kHooks = 4;
std::string_view hook_name(Hook hook) noexcept;

enum class Next : std::uint8_t {
  kContinue,  // go on
  kSuspend,   // wait for reenable()
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
  bool empty(Hook hook) const noexcept { return entries_[static_cast<std::size_t>(hook)].empty(); }

 private:
  friend class HookRunner;
  struct Entry {
    std::string plugin;
    std::uint32_t plugin_number;  // of the diag library, for the scope
    HookFunction function;
  };
  std::array<std::vector<Entry>, kHooks> entries_;
};

// Runs one transaction's hooks.
class HookRunner {
 public:
  HookRunner(const HookTable& table, net::Worker& worker) : table_(table), worker_(worker) {}

  // False: a hook asked for an error. Cost without hooks: one load, no frame.
  bool idle(Hook hook) const noexcept { return table_.empty(hook); }
  net::Task<bool> run(Hook hook, Transaction& transaction);

 private:
  const HookTable& table_;
  net::Worker& worker_;
};

}  // namespace telltale::txn
