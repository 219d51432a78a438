// SPDX-License-Identifier: Apache-2.0
//
// The arena is a list of heap blocks that never move, so views into it survive growing and moving the
// Fields. Blocks are kept over clear() up to kArenaKept bytes; what one odd message needed beyond that is
// given back.
#include "http/fields.h"

#include <algorithm>
#include <cstring>

namespace telltale::http {
namespace {
constexpr std::size_t kBlock = 1024;
constexpr std::size_t kArenaKept = 16 * 1024;
}  // namespace

void Fields::grow() {
  const std::size_t capacity = capacity_ * 2;
  auto larger = std::make_unique<Field[]>(capacity);
  std::copy(begin(), end(), larger.get());
  heap_ = std::move(larger);
  capacity_ = capacity;
}

void Fields::take(Fields& other) noexcept {
  size_ = other.size_;
  capacity_ = other.capacity_;
  heap_ = std::move(other.heap_);
  if (!heap_) std::copy(other.inline_, other.inline_ + other.size_, inline_);
  arena_ = std::move(other.arena_);
  block_ = other.block_;
  other.size_ = 0;
  other.capacity_ = kInline;
  other.arena_.clear();
  other.block_ = 0;
}

std::string_view Fields::copy_text(std::string_view text) {
  if (text.empty()) return {};
  while (block_ < arena_.size() && arena_[block_].capacity - arena_[block_].used < text.size()) ++block_;
  if (block_ == arena_.size()) {
    const std::size_t capacity = std::max(kBlock, text.size());
    arena_.push_back({std::make_unique<char[]>(capacity), capacity, 0});
  }
  Block& block = arena_[block_];
  char* const at = block.bytes.get() + block.used;
  std::memcpy(at, text.data(), text.size());
  block.used += text.size();
  return {at, text.size()};
}

void Fields::add_copy(std::string_view name, std::string_view value) {
  const std::string_view own_name = copy_text(name);
  add({field_id(name), own_name, copy_text(value)});
}

void Fields::set_copy(std::string_view name, std::string_view value) {
  // Copied first: `name` or `value` may be views of the very field that is replaced.
  const FieldId id = field_id(name);
  const std::string_view own_name = copy_text(name);
  const std::string_view own_value = copy_text(value);
  bool placed = false;
  Field* const all = data();
  std::size_t kept = 0;
  for (std::size_t i = 0; i < size_; ++i) {
    const bool same = all[i].id == id && (id != FieldId::kOther || equal_nocase(all[i].name, own_name));
    if (same && placed) continue;
    all[kept++] = same ? Field{id, own_name, own_value} : all[i];
    placed = placed || same;
  }
  size_ = kept;
  if (!placed) add({id, own_name, own_value});
}

std::size_t Fields::remove(FieldId id) {
  return remove_if([id](const Field& field) { return field.id == id; });
}

std::size_t Fields::remove(std::string_view name) {
  const FieldId id = field_id(name);
  return remove_if([id, name](const Field& field) {
    return field.id == id && (id != FieldId::kOther || equal_nocase(field.name, name));
  });
}

void Fields::clear() {
  size_ = 0;
  block_ = 0;
  std::size_t total = 0;
  std::size_t keep = 0;
  for (Block& block : arena_) {
    total += block.capacity;
    if (total > kArenaKept) break;
    block.used = 0;
    ++keep;
  }
  arena_.erase(arena_.begin() + static_cast<std::ptrdiff_t>(keep), arena_.end());
}

void Fields::copy_from(const Fields& other) {
  if (this == &other) return;
  clear();
  for (const Field& field : other) {
    const std::string_view own_name = copy_text(field.name);
    add({field.id, own_name, copy_text(field.value)});
  }
}

const Field* Fields::find(std::string_view name) const {
  const FieldId id = field_id(name);
  if (id != FieldId::kOther) return find(id);
  for (const Field& field : *this) {
    if (field.id == FieldId::kOther && equal_nocase(field.name, name)) return &field;
  }
  return nullptr;
}

std::size_t Fields::count(FieldId id) const {
  std::size_t found = 0;
  for (const Field& field : *this) found += field.id == id;
  return found;
}

}  // namespace telltale::http
