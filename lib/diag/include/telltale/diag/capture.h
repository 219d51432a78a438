// SPDX-License-Identifier: Apache-2.0
#pragma once
// Capture: the lines of one transaction, kept in memory for whoever follows it, beside where they go anyway.
//
// One at a time. At most kCaptureBytesMax wait to be taken; what comes while that is full is counted.
//
// Or the records of many, held until the end of each says whether anybody sees them: hold_begin(). A record that
// is held is copied, not formatted; its line is made when it is shown. A transaction may have
// kHeldBytesPerTransaction of records, all together kHeldBytesMax, and so many transactions may be held at a
// time; what is beyond that is left out and counted, or, of too many transactions, that which began first goes.
// One that does not end in time goes too.
//
//   record of a followed context    held
//   release_held(t, true)           t's lines are made and wait to be taken
//   release_held(t, false), or t is older than hold_begin() said: t's records are gone
//
// **Thread safety:** thread-safe. Lines are added by the backend; flush_output() before the last taking.

#include <chrono>
#include <cstdint>
#include <string>

#include <telltale/diag/export.h>

namespace telltale::diag {

inline constexpr std::size_t kCaptureBytesMax = 1024 * 1024;
inline constexpr std::size_t kHeldBytesPerTransaction = 64 * 1024;
inline constexpr std::size_t kHeldBytesMax = 16 * 1024 * 1024;
inline constexpr std::size_t kHeldTransactionsMax = 4096;

// From now on the lines of this transaction are kept; 0: of none. What has been kept stays.
TELLTALE_EXPORT void capture_transaction(std::uint64_t transaction) noexcept;
// Nothing is kept and nothing counted as lost.
TELLTALE_EXPORT void clear_capture();

// From now on the records of contexts that are followed (Context::followed) are held, for at most so long after a
// transaction's first. Those that were held are gone.
TELLTALE_EXPORT void hold_begin(std::chrono::milliseconds for_at_most);
// Nothing is held any more.
TELLTALE_EXPORT void hold_end();
// The transaction has written its last line. Cost: a lock that the backend takes for a moment.
TELLTALE_EXPORT void release_held(std::uint64_t transaction, bool show) noexcept;
// All that was released before the call has been seen to, when it returns true; false: the deadline passed.
TELLTALE_EXPORT bool flush_held(std::chrono::milliseconds deadline) noexcept;

struct Captured {
  std::string lines;             // whole ones, each ended by '\n', since the last call
  std::uint64_t lines_lost = 0;  // since clear_capture(); of transactions that were not shown, none
};
TELLTALE_EXPORT Captured take_captured();

struct HeldCounts {  // since hold_begin()
  std::uint64_t transactions = 0;          // of which there are records, or were
  std::uint64_t transactions_shown = 0;
  std::uint64_t transactions_given_up = 0; // too many, or too old
  std::size_t bytes = 0;                   // held now
};
TELLTALE_EXPORT HeldCounts held_counts();

}  // namespace telltale::diag
