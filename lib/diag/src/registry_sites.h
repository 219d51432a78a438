// SPDX-License-Identifier: Apache-2.0
#pragma once
// A module's list of sites, read and written through its self-relative offsets.
//
// **Thread safety:** hot bytes are written under the registry's lock and read by sites without it.

#include <atomic>
#include <cstdint>

#include <telltale/diag/site.h>

namespace telltale::diag {

inline Site& site_of(const SiteListItem& item) noexcept {
  auto at = reinterpret_cast<std::intptr_t>(&item.site_offset);
  return *reinterpret_cast<Site*>(at + item.site_offset);
}

// Release: who finds the byte set finds Site::entry set too.
inline void set_hot(const SiteListItem& item, std::uint8_t bits) noexcept {
  if (item.hot_offset == 0) {
    site_of(item).hot.store(bits, std::memory_order_release);
  } else {
    auto at = reinterpret_cast<std::intptr_t>(&item.hot_offset);
    std::atomic_ref<std::uint8_t>(*reinterpret_cast<std::uint8_t*>(at + item.hot_offset)).store(bits, std::memory_order_release);
  }
}

}  // namespace telltale::diag
