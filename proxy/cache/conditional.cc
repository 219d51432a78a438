// SPDX-License-Identifier: Apache-2.0
#include "cache/conditional.h"

#include <optional>
#include <vector>

#include "http/date.h"
#include "http/token.h"

namespace telltale::cache {
namespace {

using http::Field;
using http::FieldId;
using http::Fields;

bool is_weak(std::string_view tag) noexcept { return tag.starts_with("W/"); }

std::string_view opaque(std::string_view tag) noexcept {
  if (is_weak(tag)) tag.remove_prefix(2);
  const bool quoted = tag.size() >= 2 && tag.front() == '"' && tag.back() == '"';
  return quoted ? tag : std::string_view{};
}

// Takes one entity tag off the front of a list; a comma within its quotes is part of it. Empty: the end.
std::string_view next_tag(std::string_view& rest) noexcept {
  while (!rest.empty() && (http::is_ows(rest.front()) || rest.front() == ',')) rest.remove_prefix(1);
  std::size_t end = 0;
  bool quoted = false;
  for (; end < rest.size() && (quoted || rest[end] != ','); ++end) quoted = quoted != (rest[end] == '"');
  std::string_view tag = http::trim_ows(rest.substr(0, end));
  rest.remove_prefix(end);
  return tag;
}

std::string_view value_of(const Fields& fields, FieldId id) noexcept {
  const Field* field = fields.find(id);
  return field != nullptr ? field->value : std::string_view{};
}

std::optional<std::time_t> date_in(const Fields& fields, FieldId id, std::time_t now) noexcept {
  const Field* field = fields.find(id);
  if (field == nullptr || fields.count(id) > 1) return std::nullopt;
  return http::parse_date(field->value, now);
}

// Describes the content, of which a 304 has none.
bool describes_content(FieldId id) noexcept {
  switch (id) {
    case FieldId::kContentLength: case FieldId::kContentEncoding: case FieldId::kContentType: case FieldId::kContentRange:
    case FieldId::kTransferEncoding: case FieldId::kContentLanguage:
      return true;
    default: return false;
  }
}

}  // namespace

bool same_tag_weakly(std::string_view a, std::string_view b) noexcept {
  const std::string_view text = opaque(a);
  return !text.empty() && text == opaque(b);
}

bool same_tag_strongly(std::string_view a, std::string_view b) noexcept {
  return !is_weak(a) && !is_weak(b) && same_tag_weakly(a, b);
}

bool client_has_it(const Fields& request, const StoredResponse& stored) noexcept {
  if (stored.status < 200 || stored.status > 299) return false;
  bool listed = false;
  const std::string_view tag = value_of(stored.fields, FieldId::kEtag);
  for (const Field& field : request) {
    if (field.id != FieldId::kIfNoneMatch) continue;
    listed = true;
    if (field.value == "*") return true;
    for (std::string_view rest = field.value;;) {
      const std::string_view one = next_tag(rest);
      if (one.empty()) break;
      if (same_tag_weakly(one, tag)) return true;
    }
  }
  if (listed) return false;
  // A two-digit year is read as of the stored Date; nobody sends one today.
  const std::optional<std::time_t> date = date_in(stored.fields, FieldId::kDate, 0);
  const std::optional<std::time_t> since = date_in(request, FieldId::kIfModifiedSince, date.value_or(0));
  if (!since) return false;
  std::optional<std::time_t> modified = date_in(stored.fields, FieldId::kLastModified, date.value_or(0));
  if (!modified) modified = date;
  return modified && *modified <= *since;
}

bool belongs_into_304(FieldId id) noexcept { return !describes_content(id) && id != FieldId::kContentDisposition; }

bool has_validator(const StoredResponse& stored) noexcept {
  return !opaque(value_of(stored.fields, FieldId::kEtag)).empty() || stored.fields.find(FieldId::kLastModified) != nullptr;
}

void set_conditions(Fields& request, const StoredResponse& stored) {
  request.remove(FieldId::kIfNoneMatch);
  request.remove(FieldId::kIfModifiedSince);
  const std::string_view tag = value_of(stored.fields, FieldId::kEtag);
  if (!opaque(tag).empty()) request.add_copy("If-None-Match", tag);
  if (const Field* modified = stored.fields.find(FieldId::kLastModified)) request.add_copy("If-Modified-Since", modified->value);
}

bool is_about(const Fields& not_modified, const StoredResponse& stored) noexcept {
  const Field* tag = not_modified.find(FieldId::kEtag);
  if (tag != nullptr) return same_tag_weakly(tag->value, value_of(stored.fields, FieldId::kEtag));
  const Field* modified = not_modified.find(FieldId::kLastModified);
  return modified == nullptr || stored.fields.find(FieldId::kLastModified) == nullptr ||
         modified->value == value_of(stored.fields, FieldId::kLastModified);
}

bool may_freshen(FieldId id) noexcept { return !describes_content(id); }

void freshen(Fields& stored, const Fields& not_modified) {
  // All lines of a name are replaced by all of the 304's.
  auto replaced = [&](const Field& field) {
    if (describes_content(field.id)) return false;
    return field.id != FieldId::kOther ? not_modified.find(field.id) != nullptr : not_modified.find(field.name) != nullptr;
  };
  stored.remove_if(replaced);
  for (const Field& field : not_modified) {
    if (!describes_content(field.id)) stored.add_copy(field.name, field.value);
  }
}

}  // namespace telltale::cache
