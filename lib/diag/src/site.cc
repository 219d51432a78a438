// SPDX-License-Identifier: Apache-2.0
//
// Modules come and go here. What allocates, matches or asks the dynamic loader (dladdr) is done first;
// then one hold of the lock publishes entries, hot bytes and the module. A site that runs meanwhile finds
// no entry, and is off.
#include <telltale/diag/site.h>

#include <dlfcn.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <telltale/diag/level.h>
#include <telltale/diag/tag.h>

#include "registry.h"
#include "registry_sites.h"
#include "word_table.h"

namespace telltale::diag {
namespace {

// Base name of the file the module was loaded from. Lives as long as the module is loaded.
std::string_view module_name(const Module& module) {
  Dl_info info{};
  if (dladdr(module.address, &info) == 0 || info.dli_fname == nullptr) return "?";
  std::string_view path = info.dli_fname;
  return path.substr(path.rfind('/') + 1);
}

struct Interned {
  Site* site;
  SiteEntry* entry = nullptr;  // null: its tag is not valid, or a table is full
};

std::vector<Interned> sites_of(const Module& module) {
  std::vector<Interned> sites;
  sites.reserve(static_cast<std::size_t>(module.end - module.begin));
  for (const SiteListItem* item = module.begin; item != module.end; ++item) sites.push_back({&site_of(*item)});
  auto before = [](const Interned& a, const Interned& b) { return a.site < b.site; };
  auto same = [](const Interned& a, const Interned& b) { return a.site == b.site; };
  std::sort(sites.begin(), sites.end(), before);
  sites.erase(std::unique(sites.begin(), sites.end(), same), sites.end());
  return sites;
}

// Which one of the sites of one identity this is, in order of line.
class Ordinals {
 public:
  void add(const SiteContent& content) { lines_[identity_of(content, 0)].insert({content.file, content.line}); }
  std::uint32_t of(const SiteContent& content) const {
    const auto& lines = lines_.at(identity_of(content, 0));
    return static_cast<std::uint32_t>(std::distance(lines.begin(), lines.find({content.file, content.line})));
  }

 private:
  std::map<std::uint64_t, std::set<std::pair<std::string_view, std::uint32_t>>> lines_;
};

std::vector<Interned> intern_sites(const Module& module, std::string_view name) {
  std::vector<Interned> sites = sites_of(module);
  Ordinals ordinals;
  for (const Interned& one : sites) ordinals.add(content_of(*one.site->meta, name));
  for (Interned& one : sites) {
    const SiteMeta& meta = *one.site->meta;
    if (!valid_tag(meta.tag)) {
      warning("debug tag \"{}\" at {}:{} is not valid (1 to {} bytes of printable ASCII without space and '%'): it stays off",
              meta.tag, meta.file, meta.line, kTagBytesMax);
      continue;
    }
    Tag* tag = intern_tag(meta.tag);
    SiteContent content = content_of(meta, name);
    if (tag != nullptr) one.entry = intern_site(content, *tag, ordinals.of(content));
    if (one.entry == nullptr) warning("no room for the debug site at {}:{}: it stays off", meta.file, meta.line);
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
  const Word* name = intern_word(module_name(module));
  auto sites = intern_sites(module, name == nullptr ? std::string_view("?") : name->text);
  module.name.store(name, std::memory_order_release);
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
    for (const SiteListItem* item = module.begin; item != module.end; ++item) {
      site_of(*item).plain.store(0, std::memory_order_relaxed);  // no walk will take it back
    }
    count_copies(module, ~std::uint32_t{0});
    return;
  }
}

}  // namespace telltale::diag
