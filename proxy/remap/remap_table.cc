// SPDX-License-Identifier: Apache-2.0
#include "remap/remap_table.h"

#include <algorithm>

namespace telltale::remap {
namespace {

bool same_word(std::string_view a, std::string_view lower_case) {
  if (a == lower_case) return true;
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
  if (by_host_.size() > kFewHosts) return;
  for (const auto& [name, rules] : by_host_) few_hosts_.push_back({name, &rules});
}

const RemapTable::Rules* RemapTable::rules_of(std::string_view host) const {
  for (const Host& one : few_hosts_) {
    if (one.name == host) return one.rules;
  }
  if (by_host_.size() <= kFewHosts) return nullptr;
  const auto found = by_host_.find(host);
  return found == by_host_.end() ? nullptr : &found->second;
}

// Most hosts come as rules have them.
const RemapTable::Rules* RemapTable::rules_of_any_spelling(std::string_view host) const {
  if (const Rules* const rules = rules_of(host)) return rules;
  const auto odd = [](char c) { return (c >= 'A' && c <= 'Z') || c == ':' || c == '['; };
  if (std::none_of(host.begin(), host.end(), odd)) return nullptr;
  char buffer[kRuleHostBytesMax];
  return rules_of(normal_host(host, buffer));
}

const Mapping* RemapTable::match(std::string_view scheme, std::string_view host, std::uint16_t port,
                                 std::string_view target) const {
  if (const Rules* const rules = rules_of_any_spelling(host)) {
    for (const Mapping* rule : *rules) {
      if (rule->from.port == port && same_word(scheme, rule->from.scheme) && rule->takes_path(target)) return rule;
    }
  }
  for (const Mapping* rule : any_host_) {
    if (rule->takes_path(target)) return rule;
  }
  return nullptr;
}

}  // namespace telltale::remap
