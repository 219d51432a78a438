// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where the line goes that this thread was last told to write: where its level goes, to outputs that leases name, or
// into the flight recorder alone.
//
// The verdict falls before the arguments are evaluated, and begin_record() comes after. What is between them
// may write lines of its own, so the verdict is kept with the number of its site or tag. Who finds another
// number asks again, without charging anybody: route_again().
//
// **Thread safety:** thread-local.

#include <cstdint>

#include <telltale/diag/output.h>
#include <telltale/diag/record.h>

#include "source_bits.h"

namespace telltale::diag {

inline constexpr std::uint32_t kForRecorder = 0x8000'0000;
inline constexpr std::uint32_t kByTag = 0x4000'0000;      // the number is a tag's
inline constexpr std::uint32_t kElsewhere = 0x2000'0000;  // nobody asks for it where its level goes, only leases with outputs of their own or none
// Outputs that leases name (LeaseRequest::to), as RouteBits.
inline constexpr unsigned kToShift = 19;
inline constexpr std::uint32_t kToMask = 0x1FF8'0000;
inline constexpr std::uint32_t kRouteBits = kForRecorder | kElsewhere | kToMask;

constexpr std::uint32_t route_to(RouteBits outputs) noexcept { return std::uint32_t{outputs} << kToShift & kToMask; }
// RecordHeader::flags of a record with that route.
constexpr std::uint16_t flags_of_route(std::uint32_t route) noexcept {
  static_assert(kElsewhere >> 28 == kRecordElsewhere && kToShift - 4 == 15 && kRecordToShift == 4);
  return static_cast<std::uint16_t>((route >> 28 & kRecordElsewhere) | (route >> 15 & kRecordToMask));
}

// A tag's number with the bits above; 0: none. A site's is ThreadRecords::asked_number (ring_front.h).
extern constinit thread_local std::uint32_t tl_route __attribute__((tls_model("initial-exec")));

// The bits of kRouteBits. Of a site with Specific's flag it may say kForRecorder where the flag alone had it on.
[[gnu::cold]] std::uint32_t route_again(const SourceBits& matches) noexcept;

}  // namespace telltale::diag
