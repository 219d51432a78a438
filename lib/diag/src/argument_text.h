// SPDX-License-Identifier: Apache-2.0
#pragma once
// The text of one argument as "{}" has it, escaped: what fmt prints for it, without fmt where that is simple.
//
// **Thread safety:** immutable.

#include "record_reader.h"
#include "text_buffer.h"

namespace telltale::diag {

void append_argument(TextBuffer& out, const Argument& argument);

}  // namespace telltale::diag
