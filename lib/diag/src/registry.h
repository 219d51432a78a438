// SPDX-License-Identifier: Apache-2.0
#pragma once
// The registry: all modules, run-time controls, tags and sites of the process, and what is on.
//
// There from before the first static constructor until the process is gone. Its lock is taken by static
// constructors and destructors, often with the dynamic loader's lock held. So under it there are memory
// writes only: no allocation, no PCRE2, no line logged, no call into the loader, no thread-local with a
// destructor; a test counts on it (registry_lock_held). Everything slow is done before, on a snapshot;
// then the epoch is compared under the lock, and the work repeated if it moved.
//
// The lock is a plain mutex: what many threads read all the time (verdicts, tables) is read without any
// lock, and what is left under it is written whenever it is taken.
//
// Changes of what is on are serialised by a second mutex, `changes`, that no static constructor or
// destructor ever takes. Order: changes, then lock.
//
// **Thread safety:** thread-safe; members say by what they are guarded.

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include <telltale/diag/debug_control.h>
#include <telltale/diag/export.h>
#include <telltale/diag/site.h>

#include "debug_control_sources.h"
#include "lease_meter.h"
#include "registry_immortal.h"
#include "registry_table.h"
#include "registry_verdict.h"
#include "site_dictionary.h"
#include "tag_table.h"
#include "word_table.h"

namespace telltale::diag {

struct Registry {
  // Own synchronisation.
  Verdicts verdicts;
  RegistryTable<Tag, kTagsMax, 4096> tags;
  RegistryTable<SiteEntry, kSitesMax, 16'384> sites;
  RegistryTable<SiteHistory, kSitesMax, 16'384> histories;
  RegistryTable<Word, kWordsMax, 16'384> words;
  LeaseMeters meters;
  std::atomic<std::uint64_t> match_errors{0};
  std::atomic<std::uint64_t> walks{0};

  // Guarded by lock.
  std::mutex lock;
  std::shared_ptr<const Sources> sources;  // null: mode 0, no lease
  Module* modules = nullptr;
  RuntimeControl* controls = nullptr;

  // Serialises changes.
  std::mutex changes;

  // REQUIRES: lock is held.
  void set_hot_bytes(const Module& module) noexcept { set_hot_bytes(module, verdicts.sets()); }
  void set_hot_bytes(const Module& module, const SourceSets& sets) noexcept;
  void set_hot_byte(RuntimeControl& control) noexcept { set_hot_byte(control, verdicts.sets()); }
  void set_hot_byte(RuntimeControl& control, const SourceSets& sets) noexcept;
  void walk() noexcept;
  void link(RuntimeControl& control) noexcept;
  void unlink(RuntimeControl& control) noexcept;
};

// Constant-initialised; in line, because an enabled site looks there.
extern constinit Immortal<Registry> the_registry;
inline Registry& registry() noexcept { return the_registry.value; }

// Takes the registry's lock and lets the tests see that it is held.
class RegistryLock {
 public:
  RegistryLock() noexcept;
  ~RegistryLock();
  RegistryLock(const RegistryLock&) = delete;
  RegistryLock& operator=(const RegistryLock&) = delete;
};

// Does the calling thread hold the registry's lock? For the test's allocator, which refuses to serve then.
TELLTALE_EXPORT bool registry_lock_held() noexcept;

// A copy of the sources in force and the epoch it belongs to. Let it go without a lock.
struct Snapshot {
  std::shared_ptr<const Sources> sources;
  std::uint64_t epoch;
};
Snapshot snapshot() noexcept;

}  // namespace telltale::diag
