// SPDX-License-Identifier: Apache-2.0
#include "tag_table.h"

#include <cstring>
#include <memory>

#include <telltale/diag/level.h>

#include "registry.h"

namespace telltale::diag {
namespace {

Tag* find(std::string_view name, std::uint64_t hash) noexcept {
  return registry().tags.find(hash, [name](const Tag& tag) { return tag.name == name; });
}

std::uint64_t hash_of(std::string_view name) noexcept { return hash_bytes(name.data(), name.size()); }

// Frees a tag that lost the race to be the first of its name; one that is in stays for good.
struct DropTag {
  void operator()(Tag* tag) const noexcept {
    delete[] tag->name.data();
    delete tag;
  }
};
using FreshTag = std::unique_ptr<Tag, DropTag>;

FreshTag make_tag(std::string_view name, std::uint64_t hash) {
  std::unique_ptr<char[]> text(new char[name.size() + 1]());
  std::memcpy(text.get(), name.data(), name.size());
  FreshTag tag(new Tag);
  tag->name = {text.release(), name.size()};
  tag->hash = hash;
  return tag;
}

void report_full() {
  static constinit std::atomic<bool> reported{false};
  if (!reported.exchange(true, std::memory_order_relaxed)) {
    warning("debug tags: {} names are in use, further ones stay off", kTagsMax);
  }
}

}  // namespace

Tag* find_tag(std::string_view name) noexcept { return find(name, hash_of(name)); }

Tag* intern_tag(std::string_view name) {
  Registry& all = registry();
  std::uint64_t hash = hash_of(name);
  if (Tag* known = find(name, hash)) return known;
  if (!all.tags.reserve()) {
    report_full();
    return nullptr;
  }
  FreshTag fresh = make_tag(name, hash);
  for (;;) {
    Snapshot at = snapshot();
    TagMatches matches = at.sources == nullptr ? TagMatches{} : at.sources->match_tag(name);
    RegistryLock guard;
    if (Tag* known = find(name, hash)) {
      all.tags.cancel_reservation();
      return known;
    }
    if (all.verdicts.epoch() != at.epoch) continue;  // changed while we matched
    all.verdicts.set_new(fresh->matches, matches.may);
    all.verdicts.set_new(fresh->by_place, matches.by_place);
    all.tags.append(fresh.get());
    return fresh.release();
  }
}

const Tag* tag_by_number(std::uint32_t number) noexcept { return registry().tags.by_number(number); }

}  // namespace telltale::diag
