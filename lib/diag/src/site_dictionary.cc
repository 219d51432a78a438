// SPDX-License-Identifier: Apache-2.0
#include "site_dictionary.h"

#include <array>
#include <cstring>
#include <memory>

#include "registry.h"
#include "short_function.h"

namespace telltale::diag {
namespace {

// What makes two sites one entry.
struct Content {
  std::string_view tag, format, file, function, module;
  std::uint32_t line;
  bool specific;
};

std::uint64_t hash_of(const Content& content) noexcept {
  std::uint64_t hash = kHashSeed;
  for (std::string_view text : {content.tag, content.format, content.file, content.function, content.module}) {
    hash = hash_bytes(text.data(), text.size(), hash);
    hash = hash_bytes("", 1, hash);
  }
  hash = hash_bytes(reinterpret_cast<const char*>(&content.line), sizeof content.line, hash);
  return hash ^ (content.specific ? 1 : 0);
}

SiteEntry* find(const Content& content, std::uint64_t hash) noexcept {
  return registry().sites.find(hash, [&content](const SiteEntry& entry) {
    return entry.line == content.line && entry.specific == content.specific && entry.tag->name == content.tag &&
           entry.format == content.format && entry.file == content.file && entry.function == content.function &&
           entry.module == content.module;
  });
}

// An entry and its text, until the table has them.
struct Fresh {
  std::unique_ptr<SiteEntry> entry;
  std::unique_ptr<char[]> text;
};

Fresh make_entry(const Content& content, Tag& tag, std::uint64_t hash) {
  Fresh fresh{std::make_unique<SiteEntry>(), nullptr};
  SiteEntry& entry = *fresh.entry;
  const std::array<std::string_view, 4> from{content.format, content.file, content.function, content.module};
  const std::array<std::string_view*, 4> to{&entry.format, &entry.file, &entry.function, &entry.module};
  std::size_t size = 0;
  for (std::string_view text : from) size += text.size() + 1;
  fresh.text.reset(new char[size]());
  char* at = fresh.text.get();
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::memcpy(at, from[i].data(), from[i].size());
    *to[i] = {at, from[i].size()};
    at += from[i].size() + 1;
  }
  entry.hash = hash;
  entry.tag = &tag;
  entry.line = content.line;
  entry.specific = content.specific;
  return fresh;
}

}  // namespace

SiteEntry* intern_site(const SiteMeta& meta, Tag& tag, std::string_view module) {
  Registry& all = registry();
  const Content content{tag.name, meta.format, meta.file, short_function(meta.function), module, meta.line, meta.specific};
  std::uint64_t hash = hash_of(content);
  if (SiteEntry* known = find(content, hash)) return known;
  if (!all.sites.reserve()) return nullptr;
  Fresh fresh = make_entry(content, tag, hash);
  RegistryLock guard;
  if (SiteEntry* known = find(content, hash)) {
    all.sites.cancel_reservation();
    return known;
  }
  all.sites.append(fresh.entry.get());
  fresh.text.release();
  return fresh.entry.release();
}

const SiteEntry* site_by_number(std::uint32_t number) noexcept { return registry().sites.by_number(number); }
std::uint32_t site_count() noexcept { return registry().sites.size(); }

}  // namespace telltale::diag
