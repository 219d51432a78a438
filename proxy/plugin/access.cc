// SPDX-License-Identifier: Apache-2.0
#include "plugin/access.h"

#include <algorithm>

#include <telltale/diag/level.h>

namespace telltale::plugin {

Access::Access(const char* function, const void* pointer, std::initializer_list<Kind> kinds, bool stands_still)
    : function_(function), handle_(Handle::of(pointer)) {
  if (std::find(kinds.begin(), kinds.end(), handle_.kind) == kinds.end()) {
    refuse("this is no handle of the kind that is wanted");
    return;
  }
  TxnSlot* slot = txn_slot(handle_.slot);
  if (slot == nullptr) {
    refuse("there is no such transaction");
    return;
  }
  lock_ = std::unique_lock(slot->mutex);
  if (slot->generation != handle_.generation || slot->transaction == nullptr) {
    refuse("the transaction has ended");
  } else if (stands_still && slot->state == TxnSlot::kRunning) {
    refuse("the transaction is neither in a hook of a plugin nor suspended by one");
  } else {
    slot_ = slot;
  }
}

TSReturnCode Access::refuse(std::string_view why) {
  slot_ = nullptr;
  if (lock_.owns_lock()) lock_.unlock();
  diag::error("{}: {}", function_, why);
  return TS_ERROR;
}

http::Fields* Access::head() {
  if (handle_.kind == Kind::kRequest) return &transaction().request().fields;
  if (http::ResponseHead* response = transaction().response()) return &response->fields;
  refuse("there is no response head now");
  return nullptr;
}

FieldRef* Access::field(const void* pointer, std::uint32_t* index) {
  Handle field = Handle::of(pointer);
  Kind wanted = handle_.kind == Kind::kRequest ? Kind::kRequestField : Kind::kResponseField;
  FieldRef* found = field == handle_.with(wanted, field.field) ? slot_->fields.at(field.field) : nullptr;
  if (found == nullptr) refuse("there is no such field in this head");
  if (index != nullptr) *index = field.field;
  return found;
}

}  // namespace telltale::plugin
