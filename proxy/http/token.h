// SPDX-License-Identifier: Apache-2.0
#pragma once

// The characters and lists HTTP fields are made of: tchar, optional white space, ASCII case, and
// comma-separated lists. Not a parser of quoted strings (cache_control.cc has its own). Used by
// everything that reads a field name or value.
//
// **Thread safety:** immutable.
// **Source:** RFC 9110 sections 5.6.1 to 5.6.3.

#include <array>
#include <cstddef>
#include <string_view>

namespace telltale::http {

namespace detail {
constexpr std::array<bool, 256> tchar_table() {
  std::array<bool, 256> table{};
  for (char c = '0'; c <= '9'; ++c) table[static_cast<unsigned char>(c)] = true;
  for (char c = 'a'; c <= 'z'; ++c) table[static_cast<unsigned char>(c)] = true;
  for (char c = 'A'; c <= 'Z'; ++c) table[static_cast<unsigned char>(c)] = true;
  for (char c : std::string_view("!#$%&'*+-.^_`|~")) table[static_cast<unsigned char>(c)] = true;
  return table;
}
inline constexpr std::array<bool, 256> kTchar = tchar_table();
}  // namespace detail

constexpr bool is_tchar(char c) { return detail::kTchar[static_cast<unsigned char>(c)]; }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_ows(char c) { return c == ' ' || c == '\t'; }

// A control byte that no field value may hold: 00-1F except HTAB, and 7F.
constexpr bool is_control(char c) {
  const auto u = static_cast<unsigned char>(c);
  return (u < 0x20 && u != '\t') || u == 0x7f;
}

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

// The value of a hexadecimal digit, or -1.
constexpr int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char l = lower(c);
  return l >= 'a' && l <= 'f' ? l - 'a' + 10 : -1;
}

// True if `text` is one or more tchars.
constexpr bool is_token(std::string_view text) {
  for (char c : text) {
    if (!is_tchar(c)) return false;
  }
  return !text.empty();
}

// Equal but for the case of ASCII letters. (`^` and `~` differ by one bit too, so no masking.)
constexpr bool equal_nocase(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (lower(a[i]) != lower(b[i])) return false;
  }
  return true;
}

// `text` without spaces and tabs at both ends.
constexpr std::string_view trim_ows(std::string_view text) {
  while (!text.empty() && is_ows(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_ows(text.back())) text.remove_suffix(1);
  return text;
}

// Takes the next item, trimmed, from the front of a comma-separated list that holds no quoted
// strings; empty items are skipped. Empty result: the list is at its end.
constexpr std::string_view next_item(std::string_view& rest) {
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    const std::string_view item = trim_ows(rest.substr(0, comma));
    rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
    if (!item.empty()) return item;
  }
  return {};
}

}  // namespace telltale::http
