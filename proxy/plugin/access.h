// SPDX-License-Identifier: Apache-2.0
#pragma once
// Access: a transaction behind a handle, locked for one call of the interface; or an error line that says why not.
//
// **Thread safety:** thread-safe: holds the slot's mutex as long as it lives.

#include <initializer_list>
#include <mutex>
#include <string_view>

#include "plugin/handle.h"
#include "plugin/txn_slot.h"

namespace telltale::plugin {

class Access {
 public:
  // `pointer` must be of one of `kinds`. `stands_still`: only while the transaction is in a hook or suspended.
  Access(const char* function, const void* pointer, std::initializer_list<Kind> kinds, bool stands_still = true);

  // False: refused, and reported.
  explicit operator bool() const noexcept { return slot_ != nullptr; }
  // REQUIRES: true.
  TxnSlot& slot() const noexcept { return *slot_; }
  txn::Transaction& transaction() const noexcept { return *slot_->transaction; }
  Handle handle() const noexcept { return handle_; }

  // The fields of the head that handle() names; null, reported: there is no such head now.
  http::Fields* head();
  // The field that `pointer` names, of this head; null, reported: it is none. `index` of FieldList.
  FieldRef* field(const void* pointer, std::uint32_t* index = nullptr);

  // Reports a refusal, and lets go of the lock first. Returns TS_ERROR.
  TSReturnCode refuse(std::string_view why);

 private:
  const char* const function_;
  const Handle handle_;
  TxnSlot* slot_ = nullptr;
  std::unique_lock<std::mutex> lock_;
};

}  // namespace telltale::plugin
