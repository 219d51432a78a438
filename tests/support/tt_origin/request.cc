// SPDX-License-Identifier: Apache-2.0
#include "request.h"

#include <charconv>

namespace tt_origin {

std::optional<std::string_view> Request::param(std::string_view name) const {
  for (auto it = query.rbegin(); it != query.rend(); ++it) {
    if (it->first == name) return it->second;
  }
  return std::nullopt;
}

std::optional<std::string> percent_decode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (text.size() - i < 3) return std::nullopt;
    unsigned byte = 0;
    const char* first = text.data() + i + 1;
    if (std::from_chars(first, first + 2, byte, 16).ptr != first + 2) return std::nullopt;
    out += static_cast<char>(byte);
    i += 2;
  }
  return out;
}

bool take_target_apart(std::string_view target, Request& request) {
  if (const auto scheme_end = target.find("://"); !target.starts_with('/') && scheme_end != target.npos) {
    const auto path_start = target.find('/', scheme_end + 3);
    target = path_start == target.npos ? "/" : target.substr(path_start);
  }
  const auto question = target.find('?');
  request.path = target.substr(0, question);
  if (question == target.npos) return true;
  std::string_view rest = target.substr(question + 1);
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
    const auto equals = pair.find('=');
    auto name = percent_decode(pair.substr(0, equals));
    auto value = percent_decode(equals == pair.npos ? std::string_view() : pair.substr(equals + 1));
    if (!name || !value) return false;
    request.query.emplace_back(std::move(*name), std::move(*value));
  }
  return true;
}

}  // namespace tt_origin
