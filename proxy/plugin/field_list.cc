// SPDX-License-Identifier: Apache-2.0
#include "plugin/field_list.h"

#include <algorithm>
#include <array>

#include "http/token.h"

namespace telltale::plugin {
namespace {

constexpr std::array<std::string_view, 8> kOfTheMessage{"Content-Length", "Transfer-Encoding", "Connection", "Keep-Alive",
                                                        "Proxy-Connection", "TE", "Trailer", "Upgrade"};
constexpr std::array<std::string_view, 2> kOfTheRequest{"Host", "Expect"};

bool among(const auto& names, std::string_view name) {
  return std::any_of(names.begin(), names.end(), [name](std::string_view one) { return http::equal_nocase(one, name); });
}

// The end of the item that begins at `at`: the next comma outside a quoted string.
std::size_t item_end(std::string_view list, std::size_t at) {
  for (bool quoted = false; at < list.size(); ++at) {
    if (list[at] == '"') quoted = !quoted;
    else if (quoted && list[at] == '\\') ++at;
    else if (!quoted && list[at] == ',') break;
  }
  return std::min(at, list.size());
}

}  // namespace

std::optional<std::uint32_t> FieldList::add(FieldRef field) {
  auto free = std::find(fields_.begin(), fields_.end(), nullptr);
  if (free == fields_.end()) {
    if (fields_.size() == kFieldsMax) return std::nullopt;
    free = fields_.emplace(fields_.end());
  }
  *free = std::make_unique<FieldRef>(std::move(field));
  return static_cast<std::uint32_t>(free - fields_.begin());
}

FieldRef* FieldList::at(std::uint32_t number) noexcept { return number < fields_.size() ? fields_[number].get() : nullptr; }

void FieldList::release(std::uint32_t number) noexcept {
  if (number < fields_.size()) fields_[number].reset();
}

void FieldList::clear() noexcept {
  fields_.clear();
  bytes_ = 0;
}

bool FieldList::book(std::size_t bytes) noexcept {
  if (bytes > kBytesMax - bytes_) return false;
  bytes_ += bytes;
  return true;
}

std::optional<std::size_t> place_of(const http::Fields& head, const FieldRef& field) {
  auto at = std::find_if(head.begin(), head.end(), [&](const http::Field& one) { return one.name.data() == field.key; });
  if (field.key == nullptr || at == head.end()) return std::nullopt;
  return static_cast<std::size_t>(at - head.begin());
}

std::string_view why_not_touched(std::string_view name, bool request) {
  if (!http::is_token(name)) return "this is no field name";
  if (among(kOfTheMessage, name)) return "fields that frame the message or speak of the connection are the proxy's own";
  if (request && among(kOfTheRequest, name)) return "this field has decided where the request goes";
  return {};
}

std::string_view why_not_value(std::string_view value) {
  return std::any_of(value.begin(), value.end(), http::is_control) ? "a field's value has no control bytes" : std::string_view{};
}

std::size_t count_values(std::string_view list) {
  if (list.empty()) return 0;
  std::size_t count = 1;
  for (std::size_t end = item_end(list, 0); end < list.size(); end = item_end(list, end + 1)) ++count;
  return count;
}

std::optional<std::pair<std::size_t, std::size_t>> find_value(std::string_view list, std::size_t index) {
  if (index >= count_values(list)) return std::nullopt;
  std::size_t begin = 0;
  while (index-- > 0) begin = item_end(list, begin) + 1;
  std::string_view item = http::trim_ows(list.substr(begin, item_end(list, begin) - begin));
  std::size_t offset = item.empty() ? begin : static_cast<std::size_t>(item.data() - list.data());
  return std::pair{offset, item.size()};
}

}  // namespace telltale::plugin
