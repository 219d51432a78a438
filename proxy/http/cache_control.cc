// SPDX-License-Identifier: Apache-2.0
#include "http/cache_control.h"

#include "http/fields.h"
#include "http/token.h"

namespace telltale::http {
namespace {

struct Directive {
  std::string_view name;
  std::string_view argument;  // without quotes
  bool has_argument = false;
  bool valid = true;          // the grammar holds for it
};

// Takes one directive, up to its comma, from the front of `rest`; a comma inside quotes does not count.
Directive next_directive(std::string_view& rest) {
  std::size_t end = 0;
  bool quoted = false;
  for (; end < rest.size(); ++end) {
    if (quoted && rest[end] == '\\') {
      if (end + 1 < rest.size()) ++end;
    } else if (rest[end] == '"') {
      quoted = !quoted;
    } else if (rest[end] == ',' && !quoted) {
      break;
    }
  }
  const std::string_view text = trim_ows(rest.substr(0, end));
  rest.remove_prefix(end < rest.size() ? end + 1 : end);

  Directive directive;
  std::size_t length = 0;
  while (length < text.size() && is_tchar(text[length])) ++length;
  // "max-age 60" and "no-store; x=1" are still about max-age and no-store, but wrong.
  directive.name = text.substr(0, length);
  if (length == text.size()) {
    directive.valid = !quoted;
    return directive;
  }
  directive.valid = !quoted && text[length] == '=';
  directive.has_argument = true;
  directive.argument = text.substr(length + 1);
  if (directive.argument.substr(0, 1) != "\"") {
    directive.valid = directive.valid && is_token(directive.argument);
  } else if (directive.argument.size() < 2 || directive.argument.back() != '"') {
    directive.valid = false;
  } else {
    directive.argument = directive.argument.substr(1, directive.argument.size() - 2);
  }
  return directive;
}

// Sets `value` from the argument; a second occurrence or an invalid argument gives `careful`.
void set_delta(std::optional<std::uint32_t>& value, const Directive& directive, std::uint32_t careful) {
  if (value) {
    value = careful;
    return;
  }
  const auto parsed = directive.valid ? parse_delta_seconds(directive.argument) : std::nullopt;
  value = parsed.value_or(careful);
}

// A restriction that may name fields: `fields` stays true only while every occurrence names some.
void set_with_fields(bool& flag, bool& fields, const Directive& directive) {
  const bool names = directive.valid && !trim_ows(directive.argument).empty();
  fields = names && (!flag || fields);
  flag = true;
}

void apply(CacheControl& control, const Directive& directive) {
  const std::string_view name = directive.name;
  const bool bare = !directive.has_argument && directive.valid;
  if (equal_nocase(name, "max-age")) {
    set_delta(control.max_age, directive, 0);
  } else if (equal_nocase(name, "s-maxage")) {
    set_delta(control.s_maxage, directive, 0);
  } else if (equal_nocase(name, "no-store")) {
    control.no_store = true;
  } else if (equal_nocase(name, "no-cache")) {
    set_with_fields(control.no_cache, control.no_cache_fields, directive);
  } else if (equal_nocase(name, "private")) {
    set_with_fields(control.private_, control.private_fields, directive);
  } else if (equal_nocase(name, "public")) {
    control.public_ = control.public_ || bare;
  } else if (equal_nocase(name, "must-revalidate")) {
    control.must_revalidate = true;
  } else if (equal_nocase(name, "proxy-revalidate")) {
    control.proxy_revalidate = true;
  } else if (equal_nocase(name, "must-understand")) {
    // Permits too: it overrules no-store where the status code is understood.
    control.must_understand = control.must_understand || bare;
  } else if (equal_nocase(name, "no-transform")) {
    control.no_transform = true;
  } else if (equal_nocase(name, "immutable")) {
    control.immutable = control.immutable || bare;
  } else if (equal_nocase(name, "only-if-cached")) {
    control.only_if_cached = true;
  } else if (equal_nocase(name, "stale-while-revalidate")) {
    set_delta(control.stale_while_revalidate, directive, 0);
  } else if (equal_nocase(name, "stale-if-error")) {
    set_delta(control.stale_if_error, directive, 0);
  } else if (equal_nocase(name, "min-fresh")) {
    set_delta(control.min_fresh, directive, kDeltaMax);
  } else if (equal_nocase(name, "max-stale")) {
    if (bare) {
      control.max_stale_any = true;
    } else {
      set_delta(control.max_stale, directive, 0);
    }
  }
}

}  // namespace

std::optional<std::uint32_t> parse_delta_seconds(std::string_view text) {
  if (text.empty()) return std::nullopt;
  std::uint64_t value = 0;
  for (char c : text) {
    if (!is_digit(c)) return std::nullopt;
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
    if (value > kDeltaMax) value = kDeltaMax;
  }
  return static_cast<std::uint32_t>(value);
}

void for_each_named_field(const Fields& fields, const std::function<void(std::string_view)>& visit) {
  for (const Field& field : fields) {
    if (field.id != FieldId::kCacheControl) continue;
    std::string_view rest = field.value;
    while (!rest.empty()) {
      const Directive directive = next_directive(rest);
      if (!directive.valid || !directive.has_argument) continue;
      if (!equal_nocase(directive.name, "no-cache") && !equal_nocase(directive.name, "private")) continue;
      for (std::string_view names = directive.argument;;) {
        const std::string_view name = next_item(names);
        if (name.empty()) break;
        visit(name);
      }
    }
  }
}

CacheControl parse_cache_control(const Fields& fields) {
  CacheControl control;
  for (const Field& field : fields) {
    if (field.id != FieldId::kCacheControl) continue;
    control.present = true;
    std::string_view rest = field.value;
    while (!rest.empty()) apply(control, next_directive(rest));
  }
  // A limit beside the unlimited form: the limit is the careful reading.
  if (control.max_stale) control.max_stale_any = false;
  return control;
}

}  // namespace telltale::http
