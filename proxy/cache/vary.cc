// SPDX-License-Identifier: Apache-2.0
// A selecting text is a line for each field name, in lower case, sorted, once, and one for its value: "=" and the
// normalised value, or "-" where the request has no such field. No value holds a line feed: the parsers refuse it.
//
//   accept-encoding\n=gzip,br\naccept-language\n-\n
//
// Comparing builds nothing: the request's value is normalised byte by byte against the text.
#include "cache/vary.h"

#include <algorithm>
#include <array>

#include "http/field_name.h"
#include "http/token.h"

namespace telltale::cache {
namespace {

using http::Field;
using http::FieldId;
using http::Fields;

bool named_by_connection(const Fields& request, std::string_view name) {
  for (const Field& field : request) {
    if (field.id != FieldId::kConnection) continue;
    for (std::string_view rest = field.value;;) {
      std::string_view option = http::next_item(rest);
      if (option.empty()) break;
      if (http::equal_nocase(option, name)) return true;
    }
  }
  return false;
}

// The origin gets this field as the client sent it.
bool travels(const Fields& request, FieldId id, std::string_view name) {
  if (http::is_hop_by_hop(id)) return false;
  return http::is_guarded(id, name) || !named_by_connection(request, name);
}

// Gives the normalised value of the request's fields of this name to `sink`, byte by byte, until it returns false:
// "-" for none, else "=" and the value.
template <class Sink>
void normalise(const Fields& request, std::string_view name, Sink sink) {
  const FieldId id = http::field_id(name);
  bool first = true;
  if (travels(request, id, name)) {
    for (const Field& field : request) {
      if (field.id != id || (id == FieldId::kOther && !http::equal_nocase(field.name, name))) continue;
      if (!sink(first ? '=' : ',')) return;
      first = false;
      bool quoted = false;
      const std::string_view value = field.value;
      for (std::size_t i = 0; i < value.size(); ++i) {
        const char c = value[i];
        if (quoted && c == '\\' && i + 1 < value.size()) {
          if (!sink(c)) return;
          ++i;
        } else if (c == '"') {
          quoted = !quoted;
        } else if (!quoted && http::is_ows(c)) {
          std::size_t end = i;
          while (end < value.size() && http::is_ows(value[end])) ++end;
          const bool at_comma = (i > 0 && value[i - 1] == ',') || end == value.size() || value[end] == ',';
          if (at_comma) {
            i = end - 1;
            continue;
          }
        }
        if (!sink(value[i])) return;
      }
    }
  }
  if (first) sink('-');
}

void append_line(std::string& out, std::string_view name, const Fields& request) {
  out.append(name).push_back('\n');
  normalise(request, name, [&](char c) {
    out.push_back(c);
    return true;
  });
  out.push_back('\n');
}

// Takes one line off the front.
std::string_view next_line(std::string_view& rest) {
  const std::size_t end = rest.find('\n');
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return line;
}

}  // namespace

std::optional<std::string> selecting_text(const Fields& response, const Fields& request) {
  std::array<std::string, kVaryFieldsMax> names;
  std::size_t count = 0;
  for (const Field& field : response) {
    if (field.id != FieldId::kVary) continue;
    for (std::string_view rest = field.value;;) {
      const std::string_view item = http::next_item(rest);
      if (item.empty()) break;
      if (item == "*" || !http::is_token(item)) return std::nullopt;
      std::string name(item);
      for (char& c : name) c = http::lower(c);
      const auto end = names.begin() + static_cast<std::ptrdiff_t>(count);
      if (std::find(names.begin(), end, name) != end) continue;
      if (count == kVaryFieldsMax) return std::nullopt;
      names[count++] = std::move(name);
    }
  }
  std::sort(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(count));
  std::string text;
  for (std::size_t i = 0; i < count; ++i) append_line(text, names[i], request);
  return text;
}

std::string selecting_text_like(std::string_view selecting, const Fields& request) {
  std::string text;
  for (std::string_view rest = selecting; !rest.empty();) {
    append_line(text, next_line(rest), request);
    next_line(rest);
  }
  return text;
}

bool selected_by(std::string_view selecting, const Fields& request) {
  for (std::string_view rest = selecting; !rest.empty();) {
    const std::string_view name = next_line(rest);
    const std::string_view wanted = next_line(rest);
    std::size_t at = 0;
    bool same = true;
    normalise(request, name, [&](char c) {
      same = at < wanted.size() && wanted[at] == c;
      ++at;
      return same;
    });
    if (!same || at != wanted.size()) return false;
  }
  return true;
}

}  // namespace telltale::cache
