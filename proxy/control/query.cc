// SPDX-License-Identifier: Apache-2.0
#include "control/query.h"

#include <optional>

#include <fmt/format.h>

#include "control/utf8.h"

namespace telltale::control {

namespace {

int hex_digit(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::optional<std::string> percent_decode(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    if (text.size() - i < 3) return std::nullopt;
    int high = hex_digit(text[i + 1]), low = hex_digit(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    decoded += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return decoded;
}

}  // namespace

tl::expected<RequestTarget, std::string> parse_target(std::string_view target) {
  if (target.empty() || target[0] != '/') return tl::unexpected(std::string("the request target must be a path, like /v1/status"));
  RequestTarget parsed;
  std::size_t question = target.find('?');
  parsed.path = target.substr(0, question);
  if (question == std::string_view::npos) return parsed;

  std::string_view query = target.substr(question + 1);
  while (!query.empty()) {
    std::size_t end = query.find('&');
    std::string_view parameter = query.substr(0, end);
    query.remove_prefix(end == std::string_view::npos ? query.size() : end + 1);

    std::size_t equals = parameter.find('=');
    if (equals == std::string_view::npos) return tl::unexpected(std::string("a query parameter is written NAME=VALUE"));
    auto name = percent_decode(parameter.substr(0, equals));
    auto value = percent_decode(parameter.substr(equals + 1));
    if (!name || !value) return tl::unexpected(std::string("the query holds a '%' that two hexadecimal digits do not follow"));
    if (!is_utf8(*name) || !is_utf8(*value)) return tl::unexpected(std::string("the query is not UTF-8"));
    for (const auto& [other, unused] : parsed.parameters) {
      if (other == *name) return tl::unexpected(fmt::format("the query parameter '{}' stands twice", *name));
    }
    parsed.parameters.emplace_back(std::move(*name), std::move(*value));
  }
  return parsed;
}

std::string percent_encode(std::string_view text) {
  std::string encoded;
  for (char c : text) {
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
                 c == '_' || c == '~';
    if (plain) {
      encoded += c;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

}  // namespace telltale::control
