// SPDX-License-Identifier: Apache-2.0
#include "http1/hop_by_hop.h"

#include <array>

namespace telltale::http1 {
namespace {

// The values of the Connection fields. They are views that stay valid while fields are removed: removing
// moves Field objects, never text.
struct Options {
  static constexpr std::size_t kMax = 8;
  std::array<std::string_view, kMax> values;
  std::size_t size = 0;

  bool name(const http::Field& field) const {
    for (std::size_t i = 0; i < size; ++i) {
      std::string_view rest = values[i];
      while (true) {
        const std::string_view option = http::next_item(rest);
        if (option.empty()) break;
        if (http::equal_nocase(option, field.name)) return true;
      }
    }
    return false;
  }
};

}  // namespace

std::size_t strip_hop_by_hop(http::Fields& fields) {
  std::size_t removed = 0;
  bool more = true;
  while (more) {
    // Rounds of kMax Connection fields; nearly always one round with no or one such field.
    Options options;
    more = false;
    std::size_t seen = 0;
    removed += fields.remove_if([&](const http::Field& field) {
      if (field.id != http::FieldId::kConnection || seen == Options::kMax) {
        more = more || field.id == http::FieldId::kConnection;
        return false;
      }
      options.values[seen++] = field.value;
      return true;
    });
    options.size = seen;
    removed += fields.remove_if([&](const http::Field& field) {
      if (field.id == http::FieldId::kConnection) return false;
      if (http::is_hop_by_hop(field.id)) return true;
      return options.size != 0 && !http::is_guarded(field.id, field.name) && options.name(field);
    });
  }
  return removed;
}

}  // namespace telltale::http1
