// SPDX-License-Identifier: Apache-2.0
//
// The rules of remap.config, ready to be asked for each request. It is built once and never changes; a
// reload builds another one.
//
// Which rule is taken: of the rules with the request's host, the first in the file whose scheme, port and
// path fit; if none, the first fitting rule without a host. So a rule for a host wins over a path-only rule
// wherever they stand.
//
// **Thread safety:** immutable.
// **Source:** remap.config of Apache Traffic Server, which also takes the first rule of a host.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <unordered_map>
#include <vector>

#include "config/problem.h"
#include "remap/mapping.h"

namespace telltale::remap {

class RemapTable {
 public:
  RemapTable() = default;

  // REQUIRES: no two rules with the same FROM.
  explicit RemapTable(std::vector<Mapping> mappings);

  RemapTable(const RemapTable&) = delete;
  RemapTable& operator=(const RemapTable&) = delete;

  // The rule for a request, or null; it lives as long as the table.
  // host: as the client named it, any case, without the port, IPv6 with or without brackets.
  // port: as the client named it, else its scheme's. target: origin-form; a query may follow the path.
  // Cost: the host's rules are found in a short list or by one hash, a second time where the host is not in lower
  // case; then a walk over them. No lock, no allocation.
  const Mapping* match(std::string_view scheme, std::string_view host, std::uint16_t port,
                       std::string_view target) const;

  // In the order of the file.
  const std::vector<Mapping>& mappings() const { return mappings_; }

 private:
  struct HostHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view host) const { return std::hash<std::string_view>()(host); }
  };

  using Rules = std::vector<const Mapping*>;
  struct Host {
    std::string_view name;  // in by_host_
    const Rules* rules;     // in by_host_
  };
  // So many hosts are compared one after the other; that is faster than a hash.
  static constexpr std::size_t kFewHosts = 8;

  const Rules* rules_of(std::string_view host) const;
  const Rules* rules_of_any_spelling(std::string_view host) const;

  // Constant after construction.
  std::vector<Mapping> mappings_;
  std::unordered_map<std::string, Rules, HostHash, std::equal_to<>> by_host_;
  std::vector<Host> few_hosts_;  // all of them, or none if there are more than kFewHosts
  Rules any_host_;
};

// Reads the text of remap.config: `map FROM TO` lines, comments (# at the start of a word) and empty
// lines. Rules and options of Traffic Server beyond that are refused by name. The signature is that of
// config::RemapReader. Errors: everything that is wrong, in the order of the lines; never empty.
tl::expected<std::shared_ptr<const RemapTable>, config::Problems> parse_remap_table(
    std::string text, const std::string& file_name);

}  // namespace telltale::remap
