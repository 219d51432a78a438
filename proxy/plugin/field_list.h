// SPDX-License-Identifier: Apache-2.0
#pragma once
// The fields that plugins hold handles of, for one transaction; and what may not be done to fields at all.
//
// A field in a head is known by where its name lies: fields move in their head, their names do not. A field that is
// in no head has its own text.
//
// **Thread safety:** thread-compatible.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/fields.h"

namespace telltale::plugin {

struct FieldRef {
  const char* key = nullptr;  // where its name lies in the head; null: in no head
  std::string name, value;    // while in no head
};

class FieldList {
 public:
  static constexpr std::size_t kFieldsMax = 1024;
  static constexpr std::size_t kBytesMax = 64 * 1024;

  // Nothing: kFieldsMax are held. The number of a released field is used again.
  std::optional<std::uint32_t> add(FieldRef field);
  FieldRef* at(std::uint32_t number) noexcept;
  void release(std::uint32_t number) noexcept;
  void clear() noexcept;

  // Books bytes that plugins add to heads; they stay until the transaction ends. False: beyond kBytesMax.
  bool book(std::size_t bytes) noexcept;

 private:
  std::vector<std::unique_ptr<FieldRef>> fields_;  // null: released; a reference stays where it is
  std::size_t bytes_ = 0;
};

// The index of the field in the head; nothing: it is not there any more.
std::optional<std::size_t> place_of(const http::Fields& head, const FieldRef& field);

// Why a plugin may not touch the field of that name; empty: it may.
std::string_view why_not_touched(std::string_view name, bool request);
// Why this cannot be a field's value; empty: it can.
std::string_view why_not_value(std::string_view value);

// The values of a comma-separated list, quoted strings kept whole: where the one of that index lies, without white
// space at its ends. Empty items count.
std::size_t count_values(std::string_view list);
std::optional<std::pair<std::size_t, std::size_t>> find_value(std::string_view list, std::size_t index);  // offset, length

}  // namespace telltale::plugin
