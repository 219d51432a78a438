// SPDX-License-Identifier: Apache-2.0
#include "registry.h"

#include <pthread.h>

#include "plain_site.h"
#include "registry_sites.h"

namespace telltale::diag {

constinit Immortal<Registry> the_registry;

namespace {

constinit thread_local bool tl_lock_held __attribute__((tls_model("initial-exec"))) = false;

// A child of fork() must find the lock free, whichever thread held it: its exit unloads modules.
void lock_before_fork() noexcept { the_registry.value.lock.lock(); }
void unlock_after_fork() noexcept { the_registry.value.lock.unlock(); }
__attribute__((constructor)) void watch_forks() noexcept {
  pthread_atfork(lock_before_fork, unlock_after_fork, unlock_after_fork);
}

}  // namespace

RegistryLock::RegistryLock() noexcept {
  the_registry.value.lock.lock();
  tl_lock_held = true;
}
RegistryLock::~RegistryLock() {
  tl_lock_held = false;
  the_registry.value.lock.unlock();
}
bool registry_lock_held() noexcept { return tl_lock_held; }

Snapshot snapshot() noexcept {
  RegistryLock guard;
  return {the_registry.value.sources, the_registry.value.verdicts.epoch()};
}

// Written from the verdicts in force only: a site that stays on never reads 0 in between.
void Registry::set_hot_bytes(const Module& module, const SourceSets& sets) noexcept {
  for (const SiteListItem* item = module.begin; item != module.end; ++item) {
    SiteEntry* entry = site_of(*item).entry.load(std::memory_order_relaxed);
    std::uint8_t bits = entry == nullptr ? 0 : Verdicts::hot_bits(sets, verdicts.now(entry->matches), entry->specific);
    set_hot(*item, bits);
    if (entry == nullptr) continue;
    entry->state.store(bits, std::memory_order_relaxed);
    const bool plain = is_plain(sets, verdicts.now(entry->matches), entry->specific);
    site_of(*item).plain.store(plain ? plain_word(verdicts.epoch(), entry->number) : 0, std::memory_order_release);
  }
}

void Registry::set_hot_byte(RuntimeControl& control, const SourceSets& sets) noexcept {
  const std::uint64_t matches = verdicts.now(control.tag_->matches);
  control.hot_.store(Verdicts::hot_bits(sets, matches, false), std::memory_order_relaxed);
  control.specific_hot_.store(Verdicts::hot_bits(sets, matches, true), std::memory_order_relaxed);
}

void Registry::walk() noexcept {
  walks.fetch_add(1, std::memory_order_relaxed);
  std::uint8_t strings = verdicts.strings_may_be_on() ? 1 : 0;
  const SourceSets sets = verdicts.sets();
  for (Module* module = modules; module != nullptr; module = module->next) {
    set_hot_bytes(*module, sets);
    module->string_tags_on.store(strings, std::memory_order_relaxed);
  }
  for (RuntimeControl* control = controls; control != nullptr; control = control->next_) set_hot_byte(*control, sets);
}

void Registry::link(RuntimeControl& control) noexcept {
  control.next_ = controls;
  if (controls != nullptr) controls->previous_ = &control;
  controls = &control;
}

void Registry::unlink(RuntimeControl& control) noexcept {
  (control.previous_ != nullptr ? control.previous_->next_ : controls) = control.next_;
  if (control.next_ != nullptr) control.next_->previous_ = control.previous_;
}

}  // namespace telltale::diag
