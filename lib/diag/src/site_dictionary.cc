// SPDX-License-Identifier: Apache-2.0
#include "site_dictionary.h"

#include <algorithm>
#include <memory>

#include "recorder_files.h"
#include "registry.h"
#include "short_function.h"
#include "word_table.h"

namespace telltale::diag {
namespace {

std::uint64_t hash_of(const SiteContent& content) noexcept {
  std::uint64_t hash = kHashSeed;
  for (std::string_view text : {content.tag, content.format, content.file, content.function, content.module}) {
    hash = hash_bytes(text.data(), text.size(), hash);
    hash = hash_bytes("", 1, hash);
  }
  hash = hash_bytes(reinterpret_cast<const char*>(&content.line), sizeof content.line, hash);
  return hash ^ (content.specific ? 1 : 0) ^ (content.at_run_time ? 2 : 0);
}

SiteEntry* find(const SiteContent& content, std::uint64_t hash) noexcept {
  return registry().sites.find(hash, [&content](const SiteEntry& entry) {
    return entry.line == content.line && entry.specific == content.specific && entry.at_run_time == content.at_run_time &&
           entry.tag->name == content.tag && entry.format == content.format && entry.file == content.file &&
           entry.function == content.function && entry.module == content.module;
  });
}

// An entry and its text, until the table has them.
struct Fresh {
  std::unique_ptr<SiteEntry> entry;
  std::unique_ptr<char[]> text;
};

Fresh make_entry(const SiteContent& content, Tag& tag, std::uint64_t hash) {
  Fresh fresh{std::make_unique<SiteEntry>(), nullptr};
  SiteEntry& entry = *fresh.entry;
  const Word* file = intern_word(content.file);
  const Word* function = intern_word(content.function);
  const Word* module = intern_word(content.module);
  if (file == nullptr || function == nullptr || module == nullptr) return {};
  entry.file_word = file->number;
  entry.function_word = function->number;
  entry.module_word = module->number;
  entry.file = file->text;
  entry.function = function->text;
  entry.module = module->text;
  fresh.text.reset(new char[content.format.size() + 1]());
  std::copy(content.format.begin(), content.format.end(), fresh.text.get());
  entry.format = {fresh.text.get(), content.format.size()};
  entry.hash = hash;
  entry.tag = &tag;
  entry.tag_number = tag.number;
  entry.line = content.line;
  entry.specific = content.specific;
  entry.at_run_time = content.at_run_time;
  return fresh;
}

SiteHistory* intern_history(std::uint64_t identity, Tag& tag) {
  auto& histories = registry().histories;
  auto known = [&] { return histories.find(identity, [](const SiteHistory&) { return true; }); };
  if (SiteHistory* history = known()) return history;
  if (!histories.reserve()) return nullptr;
  auto fresh = std::make_unique<SiteHistory>();
  fresh->hash = identity;
  fresh->tag = &tag;
  RegistryLock guard;
  if (SiteHistory* history = known()) {
    histories.cancel_reservation();
    return history;
  }
  histories.append(fresh.get());
  return fresh.release();
}

}  // namespace

SiteContent content_of(const SiteMeta& meta, std::string_view module) noexcept {
  return {meta.tag, meta.format, meta.file, short_function(meta.function), module, meta.line, meta.specific, false};
}

std::uint64_t identity_of(const SiteContent& content, std::uint32_t ordinal) noexcept {
  std::uint64_t hash = kHashSeed;
  for (std::string_view text : {content.module, content.function, content.tag, content.format}) {
    hash = hash_bytes(text.data(), text.size(), hash);
    hash = hash_bytes("", 1, hash);
  }
  return ordinal == 0 ? hash : hash_bytes(reinterpret_cast<const char*>(&ordinal), sizeof ordinal, hash);
}

Subject subject_of(const SiteEntry& entry) noexcept {
  return {entry.tag->name, entry.file, entry.function, entry.module, entry.format, entry.line};
}

SiteEntry* find_site(const SiteContent& content) noexcept { return find(content, hash_of(content)); }

namespace {
SiteEntry* intern(const SiteContent& content, Tag& tag, std::uint32_t ordinal) {
  Registry& all = registry();
  std::uint64_t hash = hash_of(content);
  if (SiteEntry* known = find(content, hash)) return known;
  SiteHistory* history = intern_history(identity_of(content, ordinal), tag);
  if (history == nullptr || !all.sites.reserve()) return nullptr;
  Fresh fresh = make_entry(content, tag, hash);
  if (fresh.entry == nullptr) {
    all.sites.cancel_reservation();
    return nullptr;
  }
  fresh.entry->history = history;
  for (;;) {
    Snapshot at = snapshot();
    std::uint64_t matches = at.sources == nullptr ? 0 : at.sources->match_site(subject_of(*fresh.entry));
    RegistryLock guard;
    if (SiteEntry* known = find(content, hash)) {
      all.sites.cancel_reservation();
      return known;
    }
    if (all.verdicts.epoch() != at.epoch) continue;  // changed while we matched
    all.verdicts.set_new(fresh.entry->matches, matches);
    all.sites.append(fresh.entry.get());
    history->newest.store(fresh.entry->number, std::memory_order_relaxed);
    fresh.text.release();
    return fresh.entry.release();
  }
}
}  // namespace

// The flight recorder's dictionary has the site before anybody can name it in a record.
SiteEntry* intern_site(const SiteContent& content, Tag& tag, std::uint32_t ordinal) {
  SiteEntry* entry = intern(content, tag, ordinal);
  if (entry != nullptr) recorder_files().knows_site(entry->number);
  return entry;
}

const SiteEntry* site_by_number(std::uint32_t number) noexcept { return registry().sites.by_number(number); }
std::uint32_t site_count() noexcept { return registry().sites.size(); }

}  // namespace telltale::diag
