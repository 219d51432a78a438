// SPDX-License-Identifier: Apache-2.0
#include "plugin/txn_slot.h"

#include <telltale/diag/level.h>

#include "plugin/continuation.h"
#include "plugin/slot_table.h"

namespace telltale::plugin {
namespace {

SlotTable<TxnSlot>& transactions() {
  static auto* immortal = new SlotTable<TxnSlot>;
  return *immortal;
}

// What a transaction holds of its slot.
class Link final : public txn::HookRunner::State {
 public:
  explicit Link(TxnSlot& s) : slot(s) {}
  ~Link() override {
    {
      std::lock_guard lock(slot.mutex);
      slot.generation = next_generation(slot.generation);
      slot.transaction = nullptr;
      slot.state = TxnSlot::kRunning;
      slot.ticket.reset();
      slot.fields.clear();
    }
    transactions().give_back(slot);
  }
  // The transaction goes on without having been let: its worker stops.
  void interrupted() noexcept override {
    std::lock_guard lock(slot.mutex);
    slot.state = TxnSlot::kRunning;
    slot.ticket.reset();
  }
  TxnSlot& slot;
};

TxnSlot* slot_of(txn::Transaction& transaction) {
  std::unique_ptr<txn::HookRunner::State>& state = transaction.hooks().state;
  if (!state) {
    TxnSlot* slot = transactions().take();
    if (slot == nullptr) return nullptr;
    {
      std::lock_guard lock(slot->mutex);
      slot->transaction = &transaction;
      transaction.client().to_sockaddr(slot->client);
    }
    state = std::make_unique<Link>(*slot);
  }
  return &static_cast<Link&>(*state).slot;
}

txn::Next run_hook(Handle cont, TSEvent event, txn::Transaction& transaction, const txn::Ticket& ticket) {
  TxnSlot* slot = slot_of(transaction);
  if (slot == nullptr) {
    diag::error("{} transactions are with plugins, the most there may be: this one is refused", kSlotsMax);
    return txn::Next::kRefuse;
  }
  Handle handle{Kind::kTxn, 0, slot->index, 0};
  {
    std::lock_guard lock(slot->mutex);
    slot->state = TxnSlot::kInHook;
    handle.generation = slot->generation;
  }
  Called called = call_continuation(cont, event, handle.as<void*>());

  std::lock_guard lock(slot->mutex);
  bool answered = slot->state == TxnSlot::kAnswered;
  slot->state = TxnSlot::kRunning;
  if (called == Called::kGone) return txn::Next::kContinue;
  if (answered) return slot->ok ? txn::Next::kContinue : txn::Next::kRefuse;
  // Whether it wanted to let the request pass is not known.
  if (called == Called::kThrew) return txn::Next::kRefuse;
  slot->state = TxnSlot::kWaiting;
  slot->ticket = ticket;
  return txn::Next::kSuspend;
}

}  // namespace

TxnSlot* txn_slot(std::uint32_t index) noexcept { return transactions().at(index); }

txn::HookFunction hook_function(Handle cont, TSEvent event) {
  return [cont, event](txn::Transaction& transaction, const txn::Ticket& ticket) {
    return run_hook(cont, event, transaction, ticket);
  };
}

std::optional<OfferedHook> offered_hook(TSHttpHookID id) noexcept {
  switch (id) {
    case TS_HTTP_TXN_START_HOOK: return OfferedHook{txn::Hook::kTxnStart, TS_EVENT_HTTP_TXN_START};
    case TS_HTTP_READ_REQUEST_HDR_HOOK: return OfferedHook{txn::Hook::kReadRequest, TS_EVENT_HTTP_READ_REQUEST_HDR};
    case TS_HTTP_SEND_RESPONSE_HDR_HOOK: return OfferedHook{txn::Hook::kSendResponse, TS_EVENT_HTTP_SEND_RESPONSE_HDR};
    case TS_HTTP_TXN_CLOSE_HOOK: return OfferedHook{txn::Hook::kTxnClose, TS_EVENT_HTTP_TXN_CLOSE};
    default: return std::nullopt;
  }
}

}  // namespace telltale::plugin
