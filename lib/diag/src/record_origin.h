// SPDX-License-Identifier: Apache-2.0
#pragma once
// The origin of a record, by this process's own dictionary.
//
// **Thread safety:** thread-safe.

#include "line.h"

namespace telltale::diag {

struct SiteEntry;

Origin origin_of(const SiteEntry& entry) noexcept;
// From the dictionary, or from the record's first five arguments, which are then read.
Origin read_origin(const RecordHeader& header, RecordReader& arguments);

}  // namespace telltale::diag
