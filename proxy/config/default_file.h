// SPDX-License-Identifier: Apache-2.0
//
// Writes the records.yaml that names every record with its default, unit and meaning: configs/default has
// it, and a test compares the two, so that it is never out of date.
//
// **Thread safety:** thread-safe.
// **Source:** record_table.h.
#pragma once

#include <string>

namespace telltale::config {

// The whole file, nested, in alphabetical order.
std::string default_records_yaml();

}  // namespace telltale::config
