// SPDX-License-Identifier: Apache-2.0
#include "cache/range.h"

#include <optional>
#include <string_view>

#include "cache/conditional.h"
#include "http/date.h"
#include "http/token.h"

namespace telltale::cache {
namespace {

using http::FieldId;

// Digits only; a number that is too large is the largest one.
std::optional<std::uint64_t> number(std::string_view text) noexcept {
  if (text.empty()) return std::nullopt;
  std::uint64_t value = 0;
  for (char c : text) {
    if (!http::is_digit(c)) return std::nullopt;
    const auto digit = static_cast<std::uint64_t>(c - '0');
    value = value > (UINT64_MAX - digit) / 10 ? UINT64_MAX : value * 10 + digit;
  }
  return value;
}

// A date validates strongly only if it is a minute older than the response (RFC 9110, 8.8.2.2).
bool strong_date(std::string_view since, const StoredResponse& stored) noexcept {
  const http::Field* modified = stored.fields.find(FieldId::kLastModified);
  const http::Field* date = stored.fields.find(FieldId::kDate);
  if (modified == nullptr || date == nullptr || modified->value != since) return false;
  const auto modified_at = http::parse_date(modified->value, 0), sent_at = http::parse_date(date->value, 0);
  return modified_at && sent_at && *sent_at - *modified_at >= 60;
}

bool still_the_same(std::string_view if_range, const StoredResponse& stored) noexcept {
  if (if_range.starts_with('"') || if_range.starts_with("W/")) {
    const http::Field* tag = stored.fields.find(FieldId::kEtag);
    return tag != nullptr && same_tag_strongly(if_range, tag->value);
  }
  return strong_date(if_range, stored);
}

}  // namespace

Range wanted_range(const http::Fields& request, const StoredResponse& stored) noexcept {
  const http::Field* field = request.find(FieldId::kRange);
  if (field == nullptr || request.count(FieldId::kRange) > 1 || stored.status != 200) return {};
  const http::Field* condition = request.find(FieldId::kIfRange);
  if (condition != nullptr && !still_the_same(condition->value, stored)) return {};

  std::string_view text = field->value;
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || !http::equal_nocase(text.substr(0, equals), "bytes")) return {};
  text = http::trim_ows(text.substr(equals + 1));
  const std::size_t dash = text.find('-');
  if (text.find(',') != std::string_view::npos || dash == std::string_view::npos) return {};

  const std::uint64_t size = stored.content.size();
  const auto first = number(text.substr(0, dash)), last = number(text.substr(dash + 1));
  if (dash == 0) {  // the last N bytes
    if (!last) return {};
    if (*last == 0 || size == 0) return {Range::kUnsatisfiable};
    return {Range::kPart, *last >= size ? 0 : size - *last, size};
  }
  const bool open = dash + 1 == text.size();
  if (!first || (!open && (!last || *last < *first))) return {};
  if (*first >= size) return {Range::kUnsatisfiable};
  return {Range::kPart, *first, open || *last >= size ? size : *last + 1};
}

}  // namespace telltale::cache
