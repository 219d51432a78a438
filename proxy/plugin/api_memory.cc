// SPDX-License-Identifier: Apache-2.0
//
// Memory, mutexes and threads for plugins. A mutex is a slot that is never freed: one that was destroyed can be
// told from one that is.
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>

#include <telltale/diag/level.h>

#include "plugin/continuation.h"
#include "plugin/handle.h"
#include "plugin/plugin_scope.h"
#include "plugin/slot_table.h"
#include "ts/ts.h"

namespace telltale::plugin {
namespace {

struct MutexSlot {
  std::uint32_t index = 0;
  MutexSlot* next_free = nullptr;
  std::recursive_mutex mutex;
  std::atomic<std::uint32_t> generation{0};  // odd: it exists
};

SlotTable<MutexSlot>& mutexes() {
  static auto* immortal = new SlotTable<MutexSlot>;
  return *immortal;
}

// Null, reported: it is no more.
MutexSlot* find(const char* function, TSMutex mutex) {
  Handle handle = Handle::of(mutex);
  MutexSlot* slot = handle.kind == Kind::kMutex ? mutexes().at(handle.slot) : nullptr;
  if (slot != nullptr && slot->generation.load(std::memory_order_acquire) == handle.generation) return slot;
  diag::error("{}: there is no such mutex; was it destroyed?", function);
  return nullptr;
}

char* copy(const char* text, std::size_t bytes) {
  auto* fresh = static_cast<char*>(TSmalloc(bytes + 1));
  std::memcpy(fresh, text, bytes);
  fresh[bytes] = '\0';
  return fresh;
}

void* or_end(void* memory, std::size_t bytes) {
  if (memory == nullptr && bytes != 0) TSFatal("no memory for %zu bytes of a plugin", bytes);
  return memory;
}

}  // namespace

}  // namespace telltale::plugin

using namespace telltale::plugin;
namespace diag = telltale::diag;

// At global scope: there they are what ts/ts.h declares, and exported.
extern "C" {

void* TSmalloc(size_t bytes) { return or_end(std::malloc(bytes), bytes); }
void* TSrealloc(void* memory, size_t bytes) { return or_end(std::realloc(memory, bytes), bytes); }
void TSfree(void* memory) { std::free(memory); }
char* TSstrdup(const char* text) { return text == nullptr ? nullptr : copy(text, std::strlen(text)); }
char* TSstrndup(const char* text, size_t bytes_max) {
  return text == nullptr ? nullptr : copy(text, ::strnlen(text, bytes_max));
}

TSMutex TSMutexCreate() {
  MutexSlot* slot = mutexes().take();
  if (slot == nullptr) {
    diag::error("TSMutexCreate: {} mutexes exist, the most there may be", kSlotsMax);
    return nullptr;
  }
  std::uint32_t generation = next_generation(slot->generation.load(std::memory_order_relaxed));
  slot->generation.store(generation, std::memory_order_release);
  return Handle{Kind::kMutex, 0, slot->index, generation}.as<TSMutex>();
}

void TSMutexDestroy(TSMutex mutex) {
  MutexSlot* slot = find("TSMutexDestroy", mutex);
  if (slot == nullptr) return;
  if (!slot->mutex.try_lock()) {
    diag::error("TSMutexDestroy: another thread holds this mutex: it stays");
    return;
  }
  slot->generation.store(next_generation(slot->generation.load(std::memory_order_relaxed)), std::memory_order_release);
  slot->mutex.unlock();
  mutexes().give_back(*slot);
}

void TSMutexLock(TSMutex mutex) {
  if (MutexSlot* slot = find("TSMutexLock", mutex)) slot->mutex.lock();
}
TSReturnCode TSMutexLockTry(TSMutex mutex) {
  MutexSlot* slot = find("TSMutexLockTry", mutex);
  return slot != nullptr && slot->mutex.try_lock() ? TS_SUCCESS : TS_ERROR;
}
void TSMutexUnlock(TSMutex mutex) {
  if (MutexSlot* slot = find("TSMutexUnlock", mutex)) slot->mutex.unlock();
}

TSThread TSThreadCreate(TSThreadFunc function, void* data) {
  if (function == nullptr) {
    diag::error("TSThreadCreate: a thread needs a function");
    return nullptr;
  }
  const Plugin* plugin = current_plugin();
  try {
    std::thread([function, data, plugin] {
      PluginScope scope(plugin);
      struct Call {
        TSThreadFunc function;
        void* data;
      } call{function, data};
      contained(
          "a thread of TSThreadCreate",
          [](void* given) { static_cast<Call*>(given)->function(static_cast<Call*>(given)->data); }, &call);
    }).detach();
  } catch (const std::system_error& e) {
    diag::error("TSThreadCreate: no thread: {}", e.code().message());
    return nullptr;
  }
  return Handle{Kind::kNone, 1, 0, 0}.as<TSThread>();
}

}  // extern "C"
