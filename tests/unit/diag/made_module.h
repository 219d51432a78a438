// SPDX-License-Identifier: Apache-2.0
#pragma once
// MadeModule: a module whose sites a test makes at run time, in the portable form.
//
// **Thread safety:** thread-compatible.

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include <telltale/diag/site.h>

namespace telltale::diag {

class MadeModule {
 public:
  MadeModule() = default;
  ~MadeModule() {
    if (rows_ != nullptr) remove_module(module_);
  }
  MadeModule(const MadeModule&) = delete;
  MadeModule& operator=(const MadeModule&) = delete;

  // `meta`'s text outlives the module.
  void add(const SiteMeta& meta) { metas_.push_back(meta); }
  // `address`: something inside the file that gives the module its name.
  void load(const void* address) {
    // The list is self-relative in 32 bits: list and sites are one block.
    rows_ = std::make_unique<Block>(metas_);
    module_.begin = rows_->items.data();
    module_.end = module_.begin + metas_.size();
    module_.address = address;
    add_module(module_);
  }

  std::uint8_t hot(std::size_t i) const { return rows_->sites[i]->hot.load(std::memory_order_acquire); }
  const Site& site(std::size_t i) const { return *rows_->sites[i]; }
  const Module& module() const { return module_; }

 private:
  struct Block {
    explicit Block(const std::deque<SiteMeta>& metas)
        : memory(new char[metas.size() * sizeof(Site) + metas.size() * sizeof(SiteListItem)]) {
      auto* at = reinterpret_cast<Site*>(memory.get());
      items = {reinterpret_cast<SiteListItem*>(at + metas.size()), metas.size()};
      for (std::size_t i = 0; i < metas.size(); ++i) {
        sites.push_back(new (at + i) Site(&metas[i]));
        auto from = reinterpret_cast<std::intptr_t>(&items[i].site_offset),
             to = reinterpret_cast<std::intptr_t>(sites[i]);
        new (&items[i]) SiteListItem{0, static_cast<std::int32_t>(to - from)};
      }
    }
    std::unique_ptr<char[]> memory;
    std::vector<Site*> sites;
    std::span<SiteListItem> items;
  };
  std::deque<SiteMeta> metas_;
  std::unique_ptr<Block> rows_;
  Module module_;
};

}  // namespace telltale::diag
