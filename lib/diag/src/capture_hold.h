// SPDX-License-Identifier: Apache-2.0
#pragma once
// The backend's side of what is held (capture.h): it copies records here as it meets them, and learns, after a
// pass, which transactions have ended.
//
// A transaction's end may be known before the backend has read its last record. So what is released waits: it is
// taken before a pass looks how far the rings are written, and seen to after it, if the pass read everything up
// to the release's stamp.
//
// **Thread safety:** hold_record(), take_released() and settle_held() by the backend only; the rest by anyone.

#include <cstdint>
#include <functional>
#include <string_view>

#include <telltale/diag/capture.h>
#include <telltale/diag/record.h>

namespace telltale::diag {

bool holding() noexcept;
// `record` as it lies in the ring, header included.
void hold_record(const RecordHeader& header, const char* record, std::string_view thread);

// Before a pass.
void take_released();
// After it: everything up to stamp `read_to` has been read. `line_of` makes the line of a record that is shown.
using LineOf = std::function<std::string_view(std::string_view thread, const RecordHeader&, const char* record)>;
void settle_held(std::uint64_t read_to, const LineOf& line_of);

void lock_held() noexcept;  // around fork()
void unlock_held() noexcept;

}  // namespace telltale::diag
