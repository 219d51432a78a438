// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sources: what the base and the open leases say, compiled. Replaced as a whole by every change.
//
// **Thread safety:** immutable once in force.

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <telltale/diag/debug_control.h>

#include "client_filter.h"
#include "registry_verdict.h"
#include "rule_list.h"

namespace telltale::diag {

struct Source {
  Mode mode = Mode::kOff;  // a lease's: kOn or kOnForClients
  LeaseKind kind = LeaseKind::kPrint;
  std::uint64_t lease = 0;                // id; 0: the base
  std::shared_ptr<const RuleList> rules;  // null: matches nothing
  std::vector<ClientBlock> clients;
  std::uint32_t sample = 1;  // on for one in so many transactions
};

// Bits of sources.
struct TagMatches {
  std::uint64_t may = 0;
  std::uint64_t by_place = 0;
};

struct Sources {
  Base base;
  std::string recorder_tags;
  std::array<Source, kSourcesMax> by_number;  // 0: the base; kRecorderSource; the others: leases, by slot
  struct OpenLease {
    Lease lease;
    unsigned number;
  };
  std::vector<OpenLease> leases;  // in order of opening

  SourceSets sets() const noexcept;
  std::size_t client_blocks() const noexcept;
  // Bit n: source n's rules have it on. Counts matches that end in an error, and takes them for none.
  // REQUIRES: no lock is held.
  TagMatches match_tag(std::string_view tag) const;
  std::uint64_t match_site(const Subject& site) const;
};

}  // namespace telltale::diag
