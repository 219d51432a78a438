// SPDX-License-Identifier: Apache-2.0
#include "plugin/continuation.h"

#include <exception>

#include <cxxabi.h>

#include <telltale/diag/level.h>

#include "plugin/slot_table.h"
#include "ts/ts.h"

namespace telltale::plugin {
namespace {

SlotTable<ContSlot>& continuations() {
  static auto* immortal = new SlotTable<ContSlot>;
  return *immortal;
}

// The slot, locked, if `contp` is a continuation that exists.
struct Locked {
  explicit Locked(Handle cont) {
    if (cont.kind != Kind::kCont) return;
    ContSlot* found = continuations().at(cont.slot);
    if (found == nullptr) return;
    lock = std::unique_lock(found->mutex);
    if (found->generation == cont.generation && found->handler != nullptr) slot = found;
  }
  ContSlot* slot = nullptr;
  std::unique_lock<std::mutex> lock;
};

void no_such(const char* function) { diag::error("{}: there is no such continuation; was it destroyed?", function); }

// The handler is not called with a slot's mutex held, so it may create and destroy continuations.
struct Call {
  TSEventFunc handler;
  TSCont contp;
  TSEvent event;
  void* data;
};

}  // namespace

// A thread that is cancelled unwinds by an exception of its own, which must go on.
bool contained(const char* where, void (*function)(void*), void* data) {
  try {
    function(data);
    return true;
  } catch (abi::__forced_unwind&) {
    throw;
  } catch (const std::exception& e) {
    diag::error("{}: an exception came out of the plugin: {}", where, e.what());
  } catch (...) {
    diag::error("{}: an exception came out of the plugin", where);
  }
  return false;
}

Called call_continuation(Handle cont, TSEvent event, void* data) noexcept {
  Call call{};
  TSMutex mutex = nullptr;
  const Plugin* plugin = nullptr;
  {
    Locked found(cont);
    if (found.slot == nullptr) return Called::kGone;
    call = {found.slot->handler, cont.as<TSCont>(), event, data};
    mutex = found.slot->plugin_mutex;
    plugin = found.slot->plugin;
  }
  WorkingFor working_for(plugin);
  if (mutex != nullptr) TSMutexLock(mutex);
  bool done = contained(
      TSHttpEventNameLookup(event),
      [](void* given) {
        Call& c = *static_cast<Call*>(given);
        c.handler(c.contp, c.event, c.data);
      },
      &call);
  if (mutex != nullptr) TSMutexUnlock(mutex);
  return done ? Called::kDone : Called::kThrew;
}

const Plugin* plugin_of_continuation(Handle cont) noexcept {
  Locked found(cont);
  return found.slot == nullptr ? nullptr : found.slot->plugin;
}

bool continuation_exists(Handle cont) noexcept { return Locked(cont).slot != nullptr; }

}  // namespace telltale::plugin

using namespace telltale::plugin;
namespace diag = telltale::diag;

// At global scope: there they are what ts/ts.h declares, and exported.
extern "C" {

TSCont TSContCreate(TSEventFunc handler, TSMutex mutex) {
  if (handler == nullptr) {
    diag::error("TSContCreate: a continuation needs a handler");
    return nullptr;
  }
  ContSlot* slot = continuations().take();
  if (slot == nullptr) {
    diag::error("TSContCreate: {} continuations exist, the most there may be", kSlotsMax);
    return nullptr;
  }
  std::lock_guard lock(slot->mutex);
  slot->handler = handler;
  slot->plugin_mutex = mutex;
  slot->data = nullptr;
  slot->plugin = current_plugin();
  return Handle{Kind::kCont, 0, slot->index, slot->generation}.as<TSCont>();
}

void TSContDestroy(TSCont contp) {
  ContSlot* slot = nullptr;
  {
    Locked found(Handle::of(contp));
    slot = found.slot;
    if (slot != nullptr) {
      slot->generation = next_generation(slot->generation);
      slot->handler = nullptr;
    }
  }
  if (slot == nullptr) return no_such("TSContDestroy");
  continuations().give_back(*slot);
}

void TSContDataSet(TSCont contp, void* data) {
  {
    Locked found(Handle::of(contp));
    if (found.slot != nullptr) {
      found.slot->data = data;
      return;
    }
  }
  no_such("TSContDataSet");
}

void* TSContDataGet(TSCont contp) {
  {
    Locked found(Handle::of(contp));
    if (found.slot != nullptr) return found.slot->data;
  }
  no_such("TSContDataGet");
  return nullptr;
}

TSMutex TSContMutexGet(TSCont contp) {
  {
    Locked found(Handle::of(contp));
    if (found.slot != nullptr) return found.slot->plugin_mutex;
  }
  no_such("TSContMutexGet");
  return nullptr;
}

}  // extern "C"
