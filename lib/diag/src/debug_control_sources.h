// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sources: what the base and the open leases say, compiled. Replaced as a whole by every change.
//
// **Thread safety:** immutable once in force.

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <telltale/diag/debug_control.h>

#include "client_filter.h"
#include "pattern.h"
#include "registry_verdict.h"

namespace telltale::diag {

struct Source {
  Mode mode = Mode::kOff;                  // a lease's: kOn or kOnForClients
  std::shared_ptr<const Pattern> pattern;  // null: matches nothing
  std::vector<ClientBlock> clients;
};

struct Sources {
  Base base;
  std::array<Source, kSourcesMax> by_number;  // 0: the base; the others: leases, by slot
  struct OpenLease {
    Lease lease;
    unsigned number;
  };
  std::vector<OpenLease> leases;  // in order of opening

  SourceSets sets() const noexcept;
  std::size_t client_blocks() const noexcept;
  // Bit n: source n's pattern matches. Counts matches that end in an error, and takes them for none.
  // REQUIRES: no lock is held.
  std::uint64_t match(std::string_view tag) const;
};

}  // namespace telltale::diag
