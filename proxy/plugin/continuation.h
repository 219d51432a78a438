// SPDX-License-Identifier: Apache-2.0
#pragma once
// Continuations: a plugin's function, its data and its mutex, behind a TSCont; and plugins' mutexes.
//
// **Thread safety:** thread-safe.

#include <cstdint>
#include <mutex>

#include "plugin/handle.h"
#include "plugin/plugin_scope.h"
#include "ts/apidefs.h"

namespace telltale::plugin {

struct ContSlot {
  std::uint32_t index = 0;      // the table's
  ContSlot* next_free = nullptr;

  std::mutex mutex;
  // Guarded by mutex.
  std::uint32_t generation = 0;
  TSEventFunc handler = nullptr;  // null: the slot is free
  TSMutex plugin_mutex = nullptr;
  void* data = nullptr;
  const Plugin* plugin = nullptr;
};

enum class Called : std::uint8_t {
  kDone,
  kGone,   // the continuation was destroyed: nothing was called
  kThrew,  // an exception ended the handler; an error line says so
};

// Calls a continuation's handler for its plugin, with its mutex held. No exception comes out. The scope is the caller's.
Called call_continuation(Handle cont, TSEvent event, void* data) noexcept;

// Whose continuation it is; null: it is no more, or no plugin's.
const Plugin* plugin_of_continuation(Handle cont) noexcept;
bool continuation_exists(Handle cont) noexcept;

// Runs `function`; false: it threw, and an error line says that `where` did.
bool contained(const char* where, void (*function)(void*), void* data);

}  // namespace telltale::plugin
