// SPDX-License-Identifier: Apache-2.0
#pragma once
// LeaseMeters: how many lines each open lease has asked for, how many it may, and where they go.
//
// **Thread safety:** charge() is lock-free; open() and close() are called one at a time (Registry::changes).
// A number is given to another lease only after 61 others were opened, so a thread that still acts on a
// lease that has ended does not spend a line of the next one, nor lead one where that lease's go.

#include <array>
#include <atomic>
#include <cstdint>

#include <telltale/diag/output.h>

#include "registry_verdict.h"

namespace telltale::diag {

struct Charge {
  bool good = false;
  std::uint32_t route = 0;  // of those that are good for it: bits of kRouteBits (route.h)
};

class LeaseMeters {
 public:
  // May this line be written, and where? `sources` ask for it; each lease of them is charged. The base is always good
  // for it. Cost: a locked instruction a lease that has a limit.
  Charge charge(std::uint64_t sources) noexcept;

  // Could charge() be good for it now?
  bool can_pay(std::uint64_t sources) const noexcept;
  // Charge::route, without a charge.
  std::uint32_t route(std::uint64_t sources) const noexcept;

  // `route`: of its lines: 0 where their level goes; kElsewhere, with outputs (route_to()) or none.
  void open(unsigned number, std::uint64_t max_lines, std::uint32_t route) noexcept;
  std::uint64_t lines(unsigned number) const noexcept;  // at most the limit
  // What all open leases name as outputs: a loss of debug lines may be one of theirs.
  std::atomic<RouteBits> outputs{0};
  bool spent(unsigned number) const noexcept;

  std::atomic<void (*)(void*) noexcept> notify{nullptr};
  std::atomic<void*> notify_with{nullptr};

 private:
  struct Meter {
    std::atomic<std::uint64_t> lines{0};  // of a lease with a limit, and on threads without a ring
    std::atomic<std::uint64_t> max{0};    // 0: no limit
    std::atomic<std::uint64_t> before{0}; // RingTable::lines() when it was opened
    std::atomic<std::uint32_t> route{0};
  };
  std::array<Meter, kSourcesMax> meters_{};
};

}  // namespace telltale::diag
