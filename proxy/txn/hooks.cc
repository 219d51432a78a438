// SPDX-License-Identifier: Apache-2.0
#include "txn/hooks.h"

#include <mutex>
#include <utility>

#include <telltale/diag/dbg.h>
#include <telltale/diag/scope.h>

#include "net/worker.h"

namespace telltale::txn {
namespace {

constexpr DbgCtl plugin_dbg{"plugin"};

}  // namespace

// Lives as long as the transaction or a ticket; the gate is touched on the worker only, and only while the
// transaction waits or is yet to wait there.
struct Ticket::State {
  explicit State(net::Worker& w) : gate(w), worker(&w) {}

  // From now on the ticket does nothing. A post() under way ends first, so the worker may be destroyed afterwards.
  void retire() {
    std::lock_guard lock(mutex);
    worker = nullptr;
  }

  // Loop-bound.
  net::Gate gate;
  bool ok = true;

  std::mutex mutex;
  net::Worker* worker;  // guarded by mutex; null: used, or there is nothing to let go on
};

std::string_view hook_name(Hook hook) noexcept {
  switch (hook) {
    case Hook::kTxnStart: return "txn_start";
    case Hook::kReadRequest: return "read_request";
    case Hook::kSendResponse: return "send_response";
    case Hook::kTxnClose: return "txn_close";
  }
  return "";
}

void Ticket::reenable(bool ok) const {
  std::lock_guard lock(state_->mutex);
  net::Worker* worker = std::exchange(state_->worker, nullptr);
  if (worker == nullptr) return;
  // Through the mailbox even on the worker itself: a hook may re-enable from within its own call.
  worker->post([state = state_, ok] {
    state->ok = ok;
    state->gate.open();
  });
}

void HookTable::add(Hook hook, std::string plugin, HookFunction function) {
  std::uint32_t number = diag::plugin_number(plugin);
  entries_[static_cast<std::size_t>(hook)].push_back({std::move(plugin), number, std::move(function)});
  used_ = static_cast<std::uint8_t>(used_ | 1U << static_cast<unsigned>(hook));
}

bool HookRunner::add(Hook hook, std::string plugin, HookFunction function) {
  if (own_count_ == kTxnHooksMax) return false;
  ++own_count_;
  if (!own_) own_ = std::make_unique<HookTable>();
  own_->add(hook, std::move(plugin), std::move(function));
  used_ |= own_->used_;
  return true;
}

net::Task<bool> HookRunner::run(Hook hook, Transaction& transaction) {
  const auto at = static_cast<std::size_t>(hook);
  for (const HookTable::Entry& entry : table_.entries_[at]) {
    bool go_on = co_await run_one(hook, entry, transaction);
    if (!go_on) co_return false;
  }
  // By number: a hook may add others to the point it is called at.
  for (std::size_t i = 0; own_ && i < own_->entries_[at].size(); ++i) {
    bool go_on = co_await run_one(hook, own_->entries_[at][i], transaction);
    if (!go_on) co_return false;
  }
  co_return true;
}

net::Task<bool> HookRunner::run_one(Hook hook, const HookTable::Entry& entry, Transaction& transaction) {
  Ticket ticket(std::make_shared<Ticket::State>(worker_));
  Next next;
  {
    diag::Context context = diag::current_context() != nullptr ? *diag::current_context() : diag::Context{};
    context.plugin = entry.plugin_number;
    context_ = &context;
    diag::Scope scope(&context);
    next = entry.function(transaction, ticket);
    context_ = nullptr;
  }
  if (next != Next::kSuspend) {
    ticket.state_->retire();
    co_return next == Next::kContinue;
  }
  Dbg(plugin_dbg, "hook {} of {} suspended the transaction", hook_name(hook), entry.plugin);
  net::Wake wake = co_await ticket.state_->gate.wait();
  if (wake == net::Wake::kShutdown) {
    ticket.state_->retire();
    if (state) state->interrupted();
    co_return false;
  }
  Dbg(plugin_dbg, "hook {} of {} let the transaction go on", hook_name(hook), entry.plugin);
  co_return ticket.state_->ok;
}

}  // namespace telltale::txn
