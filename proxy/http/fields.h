// SPDX-License-Identifier: Apache-2.0
#pragma once

// The fields of one message, in order. Not a map: messages have 5 to 30 fields, and a linear look at
// one byte each is faster than any hash. Names and values are views, either into the buffer the head
// was read into (add) or into an arena of the Fields' own (add_copy, set_copy).
//
// | operation          | order        | own arena | allocates                                   |
// |--------------------|--------------|-----------|---------------------------------------------|
// | add                | at the end   | no        | beyond kInline fields, doubling             |
// | add_copy           | at the end   | copies    | when the arena's blocks are full            |
// | set_copy           | first's place| copies    | as add_copy                                 |
// | set_value          | kept         | copies    | as add_copy                                 |
// | remove             | kept         | keeps     | never                                       |
// | clear              | -            | reused    | never                                       |
// | move               | kept         | moves     | never; views into the arena stay valid      |
//
// Everything is kept over clear(), so a Fields that is reused for one message after another stops
// allocating. It has no limit of its own: parsers limit what they add.
//
// **Thread safety:** thread-compatible.
// **Source:** RFC 9110 section 5.

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "http/field_name.h"

namespace telltale::http {

struct Field {
  FieldId id = FieldId::kOther;
  std::string_view name;
  std::string_view value;  // without white space at its ends
};

class Fields {
 public:
  static constexpr std::size_t kInline = 32;

  Fields() = default;
  Fields(Fields&& other) noexcept { take(other); }
  Fields& operator=(Fields&& other) noexcept {
    if (this != &other) take(other);
    return *this;
  }

  // `field.name` and `field.value` must outlive their use here.
  void add(const Field& field) {
    if (size_ == capacity_) grow();
    data()[size_++] = field;
  }
  void add_copy(std::string_view name, std::string_view value);
  // Replaces the first field of that name and removes the others; adds it if there is none.
  void set_copy(std::string_view name, std::string_view value);

  // Gives the field at `index` another value. REQUIRES: index < size().
  void set_value(std::size_t index, std::string_view value) { data()[index].value = copy_text(value); }

  // Removes all fields of that name, keeps the order of the rest. Returns how many.
  std::size_t remove(FieldId id);
  std::size_t remove(std::string_view name);
  // Removes the fields for which `unwanted(field)` is true.
  template <class Predicate>
  std::size_t remove_if(Predicate unwanted) {
    Field* const all = data();
    std::size_t kept = 0;
    for (std::size_t i = 0; i < size_; ++i) {
      if (!unwanted(static_cast<const Field&>(all[i]))) {
        if (kept != i) all[kept] = all[i];
        ++kept;
      }
    }
    const std::size_t removed = size_ - kept;
    size_ = kept;
    return removed;
  }

  void clear();

  // Makes this a deep copy of `other`: nothing in it points outside any more.
  void copy_from(const Fields& other);

  // The first field of that name, or null. The pointer lives until the next change.
  const Field* find(FieldId id) const {
    for (const Field& field : *this) {
      if (field.id == id) return &field;
    }
    return nullptr;
  }
  const Field* find(std::string_view name) const;

  // How many fields have that name.
  std::size_t count(FieldId id) const;

  const Field* begin() const { return data(); }
  const Field* end() const { return data() + size_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

 private:
  struct Block {
    std::unique_ptr<char[]> bytes;
    std::size_t capacity;
    std::size_t used;
  };

  Field* data() { return heap_ ? heap_.get() : inline_; }
  const Field* data() const { return heap_ ? heap_.get() : inline_; }
  void grow();
  void take(Fields& other) noexcept;
  std::string_view copy_text(std::string_view text);

  std::size_t size_ = 0;
  std::size_t capacity_ = kInline;
  std::unique_ptr<Field[]> heap_;  // null: the fields are in inline_
  std::vector<Block> arena_;
  std::size_t block_ = 0;  // the arena's block that is being filled
  Field inline_[kInline];
};

}  // namespace telltale::http
