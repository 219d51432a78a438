// SPDX-License-Identifier: Apache-2.0
#pragma once
// The library's side of <telltale/diag/secret_values.h>: masks records before they are published.
//
// **Thread safety:** thread-safe.

#include <atomic>
#include <cstdint>

namespace telltale::diag {

class Ring;

// Is any value registered? Relaxed is enough: who registers one expects it of records begun later.
extern constinit std::atomic<bool> secret_values_armed;

// Masks the arguments of the ring's open record, which end at `end`. What is longer then may be put elsewhere in
// the ring. Returns the new end, the record still open; null: there was no room for it, and it is dropped and counted.
// Nothing of what was masked stays in the ring. Cost: no allocation but for the first few times.
char* mask_open_record(Ring& ring, char* end, std::uint8_t argument_count) noexcept;

}  // namespace telltale::diag
