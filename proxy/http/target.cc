// SPDX-License-Identifier: Apache-2.0
#include "http/target.h"

#include <algorithm>
#include <array>

#include "http/token.h"

namespace telltale::http {
namespace {

Target refused(TargetForm form, std::uint16_t status, std::string_view reason) {
  return {form, {}, {}, status, reason};
}

// Bytes that may stand anywhere in a target and mean nothing here.
constexpr std::array<bool, 256> plain_table() {
  std::array<bool, 256> table{};
  for (std::size_t u = 0x21; u < 0x7f; ++u) table[u] = u != '#' && u != '?';
  return table;
}
constexpr std::array<bool, 256> kPlain = plain_table();

// The length of "scheme" in "scheme://": a letter, then letters, digits, '+', '-', '.'. 0: there is none.
std::size_t scheme_length(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char l = lower(text[i]);
    if (l >= 'a' && l <= 'z') continue;
    if (i == 0) return 0;
    if (text[i] == ':') return text.substr(i + 1, 2) == "//" ? i : 0;
    if (!is_digit(text[i]) && text[i] != '+' && text[i] != '-' && text[i] != '.') return 0;
  }
  return 0;
}

}  // namespace

Target parse_target(Method method, std::string_view text) {
  if (method == Method::kConnect) {
    return refused(TargetForm::kAuthority, 405, "the method CONNECT is not allowed");
  }
  if (text.empty()) return refused(TargetForm::kInvalid, 400, "the request target is empty");
  std::size_t question = std::string_view::npos;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto u = static_cast<unsigned char>(text[i]);
    if (kPlain[u]) [[likely]] continue;
    if (u <= 0x20 || u == 0x7f) {
      return refused(TargetForm::kInvalid, 400, "the request target holds a space or control byte");
    }
    if (u > 0x7f) return refused(TargetForm::kInvalid, 400, "the request target holds a byte above 7F");
    if (u == '#') return refused(TargetForm::kInvalid, 400, "the request target holds a fragment");
    if (u == '?' && question == std::string_view::npos) question = i;
  }
  if (text.front() == '/') {
    Target target;
    target.form = TargetForm::kOrigin;
    target.path = text.substr(0, question);
    if (question != std::string_view::npos) target.query = text.substr(question + 1);
    return target;
  }
  if (text == "*") {
    if (method == Method::kOptions) return {TargetForm::kAsterisk, {}, {}, 0, {}};
    return refused(TargetForm::kAsterisk, 400, "the request target * goes with OPTIONS only");
  }
  if (scheme_length(text) != 0) return refused(TargetForm::kAbsolute, 400, "the request target is in absolute form");
  return refused(TargetForm::kAuthority, 400, "the request target does not begin with a slash");
}

std::optional<AbsoluteTarget> split_absolute_target(std::string_view text) {
  const std::size_t scheme = scheme_length(text);
  if (scheme == 0) return std::nullopt;
  const std::string_view after = text.substr(scheme + 3);
  const std::size_t authority = std::min(after.find_first_of("/?#"), after.size());
  return AbsoluteTarget{text.substr(0, scheme), after.substr(0, authority), after.substr(authority)};
}

}  // namespace telltale::http
