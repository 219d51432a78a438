// SPDX-License-Identifier: Apache-2.0
//
// Modules come and go here. What allocates, matches or asks the dynamic loader (dladdr) is done first;
// then one hold of the lock publishes entries, hot bytes and the module. A site that runs meanwhile finds
// no entry, and is off.
#include <telltale/diag/site.h>

#include <dlfcn.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include <telltale/diag/level.h>
#include <telltale/diag/scope.h>
#include <telltale/diag/tag.h>

#include "registry.h"
#include "registry_sites.h"

namespace telltale::diag {
namespace {

// Base name of the file the module was loaded from. Lives as long as the module is loaded.
std::string_view module_name(const Module& module) {
  Dl_info info{};
  if (dladdr(module.address, &info) == 0 || info.dli_fname == nullptr) return "?";
  std::string_view path = info.dli_fname;
  return path.substr(path.rfind('/') + 1);
}

// Each site once, with its entry; null: its tag is not valid, or a table is full.
std::vector<std::pair<Site*, SiteEntry*>> intern_sites(const Module& module) {
  std::vector<std::pair<Site*, SiteEntry*>> sites;
  sites.reserve(static_cast<std::size_t>(module.end - module.begin));
  for (const SiteListItem* item = module.begin; item != module.end; ++item) sites.emplace_back(&site_of(*item), nullptr);
  std::sort(sites.begin(), sites.end());
  sites.erase(std::unique(sites.begin(), sites.end()), sites.end());

  std::string_view name = module_name(module);
  for (auto& [site, entry] : sites) {
    const SiteMeta& meta = *site->meta;
    if (!valid_tag(meta.tag)) {
      warning("debug tag \"{}\" at {}:{} is not valid (1 to {} bytes of printable ASCII without space and '%'): it stays off",
              meta.tag, meta.file, meta.line, kTagBytesMax);
      continue;
    }
    Tag* tag = intern_tag(meta.tag);
    if (tag != nullptr) entry = intern_site(meta, *tag, name);
    if (entry == nullptr) warning("no room for the debug site at {}:{}: it stays off", meta.file, meta.line);
  }
  return sites;
}

void count_copies(const Module& module, std::uint32_t step) noexcept {
  for (const SiteListItem* item = module.begin; item != module.end; ++item) {
    SiteEntry* entry = site_of(*item).entry.load(std::memory_order_relaxed);
    if (entry != nullptr) entry->loaded.fetch_add(step, std::memory_order_relaxed);
  }
}

}  // namespace

void add_module(Module& module) {
  Registry& all = registry();
  auto sites = intern_sites(module);
  RegistryLock guard;
  for (auto& [site, entry] : sites) site->entry.store(entry, std::memory_order_release);
  count_copies(module, 1);
  all.set_hot_bytes(module);
  module.string_tags_on.store(all.verdicts.strings_may_be_on() ? 1 : 0, std::memory_order_relaxed);
  module.next = all.modules;
  all.modules = &module;
}

// The sites keep their entries and last hot bytes: threads that still run the module's code, or its last
// destructors, go on logging into counters that outlive it.
void remove_module(Module& module) noexcept {
  Registry& all = registry();
  RegistryLock guard;
  for (Module** at = &all.modules; *at != nullptr; at = &(*at)->next) {
    if (*at != &module) continue;
    *at = module.next;
    count_copies(module, ~std::uint32_t{0});
    return;
  }
}

bool site_wanted(const Site& site, bool flag) noexcept {
  SiteEntry* entry = site.entry.load(std::memory_order_acquire);
  if (entry == nullptr) return false;
  const Context* context = current_context();
  flag = entry->specific && (flag || (context != nullptr && context->locked_on));
  if (!registry().verdicts.wanted(*entry->tag, Flavour::kControl, flag, context)) return false;
  entry->hits.fetch_add(1, std::memory_order_relaxed);
  return true;
}

std::uint32_t site_number(const Site& site) noexcept {
  SiteEntry* entry = site.entry.load(std::memory_order_acquire);
  return entry == nullptr ? 0 : entry->number;
}

std::uint32_t site_tag_number(const Site& site) noexcept {
  SiteEntry* entry = site.entry.load(std::memory_order_acquire);
  return entry == nullptr ? 0 : entry->tag->number;
}

}  // namespace telltale::diag
