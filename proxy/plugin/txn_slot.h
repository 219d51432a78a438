// SPDX-License-Identifier: Apache-2.0
#pragma once
// A transaction as plugins see it: made at its first hook with a plugin, ended with the transaction, and safe to ask
// about at any time after that.
//
// | state     | hook is called | TSHttpTxnReenable      | read and change | transaction ends |
// |-----------|----------------|------------------------|-----------------|------------------|
// | kRunning  | kInHook        | refused                | refused         | free             |
// | kInHook   | -              | kAnswered              | yes             | -                |
// | kAnswered | -              | refused                | yes (its hook)  | -                |
// | kWaiting  | -              | kRunning, ticket used  | yes             | free             |
//
// kAnswered becomes kRunning, and kInHook kWaiting, when the handler returns.
//
// **Thread safety:** thread-safe; `mutex` guards all but the index, and is held over no call into a plugin.

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include <sys/socket.h>

#include "plugin/field_list.h"
#include "plugin/handle.h"
#include "ts/apidefs.h"
#include "txn/hooks.h"
#include "txn/transaction.h"

namespace telltale::plugin {

struct TxnSlot {
  enum State : std::uint8_t { kRunning, kInHook, kAnswered, kWaiting };

  std::uint32_t index = 0;  // the table's
  TxnSlot* next_free = nullptr;

  std::mutex mutex;
  std::uint32_t generation = 0;
  txn::Transaction* transaction = nullptr;  // null: the slot is free
  State state = kRunning;
  bool ok = true;                       // of kAnswered
  std::optional<txn::Ticket> ticket;    // of kWaiting
  FieldList fields;
  sockaddr_storage client{};
};

// Null: there never was such a slot.
TxnSlot* txn_slot(std::uint32_t index) noexcept;

// The hook function behind TSHttpHookAdd() and TSHttpTxnHookAdd().
txn::HookFunction hook_function(Handle cont, TSEvent event);

// The hook and event of an id that is offered.
struct OfferedHook {
  txn::Hook hook;
  TSEvent event;
};
std::optional<OfferedHook> offered_hook(TSHttpHookID id) noexcept;

}  // namespace telltale::plugin
