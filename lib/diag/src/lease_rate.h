// SPDX-License-Identifier: Apache-2.0
#pragma once
// Leases that have a max_rate: watched from their opening, until they are found to have ended.
//
// **Thread safety:** REQUIRES: Registry::changes is held.

#include <chrono>

#include <telltale/diag/lease.h>

namespace telltale::diag {

void watch_rate(const Lease& lease, std::chrono::steady_clock::time_point now);

}  // namespace telltale::diag
