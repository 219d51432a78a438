// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a preview has to know of its lease: when it was ended, by whomever.
//
// **Thread safety:** thread-safe.

#include <chrono>
#include <cstdint>

namespace telltale::diag {

// For each lease of kind kCount that ends. Takes no lock: it is called under those of the leases.
void note_preview_end(std::uint64_t lease, std::chrono::steady_clock::time_point at) noexcept;

}  // namespace telltale::diag
