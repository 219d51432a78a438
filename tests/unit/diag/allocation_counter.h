// SPDX-License-Identifier: Apache-2.0
#pragma once
// Counts what operator new serves, and refuses to serve under the registry's lock.
//
// The test program replaces operator new, also for libtelltale-diag.so. An allocation while the calling
// thread holds the registry's lock ends the program: the rule of DESIGN, section 3, made a test of every
// test.
//
// **Thread safety:** thread-safe.

#include <cstdint>

namespace telltale::diag {

std::uint64_t allocations_of_this_thread() noexcept;

}  // namespace telltale::diag
