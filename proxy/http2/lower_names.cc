// SPDX-License-Identifier: Apache-2.0
#include "http2/lower_names.h"

#include <array>

#include "http/token.h"

namespace telltale::http2 {
namespace {

constexpr std::size_t kCount = static_cast<std::size_t>(http::FieldId::kCount);

struct Names {
  std::array<std::array<char, 32>, kCount> text{};
  std::array<std::size_t, kCount> size{};

  Names() noexcept {
    for (std::size_t i = 0; i < kCount; ++i) {
      const std::string_view name = http::field_name(static_cast<http::FieldId>(i));
      size[i] = name.size();
      for (std::size_t at = 0; at < name.size(); ++at) text[i].at(at) = http::lower(name[at]);
    }
  }
};

const Names kNames;

}  // namespace

std::string_view lower_name(http::FieldId id) noexcept {
  const auto at = static_cast<std::size_t>(id);
  return {kNames.text[at].data(), kNames.size[at]};
}

}  // namespace telltale::http2
