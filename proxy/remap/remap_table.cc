// SPDX-License-Identifier: Apache-2.0
#include "remap/remap_table.h"

namespace telltale::remap {
namespace {

bool same_word(std::string_view a, std::string_view lower_case) {
  if (a.size() != lower_case.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const char c = a[i] >= 'A' && a[i] <= 'Z' ? static_cast<char>(a[i] + 32) : a[i];
    if (c != lower_case[i]) return false;
  }
  return true;
}

}  // namespace

RemapTable::RemapTable(std::vector<Mapping> mappings) : mappings_(std::move(mappings)) {
  for (const Mapping& mapping : mappings_) {
    if (mapping.from.host.empty()) {
      any_host_.push_back(&mapping);
    } else {
      by_host_[mapping.from.host].push_back(&mapping);
    }
  }
}

const Mapping* RemapTable::match(std::string_view scheme, std::string_view host, std::uint16_t port,
                                 std::string_view target) const {
  char buffer[kRuleHostBytesMax];
  if (const auto rules = by_host_.find(normal_host(host, buffer)); rules != by_host_.end()) {
    for (const Mapping* rule : rules->second) {
      if (rule->from.port == port && same_word(scheme, rule->from.scheme) && rule->takes_path(target))
        return rule;
    }
  }
  for (const Mapping* rule : any_host_) {
    if (rule->takes_path(target)) return rule;
  }
  return nullptr;
}

}  // namespace telltale::remap
