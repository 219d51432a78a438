// SPDX-License-Identifier: Apache-2.0
#pragma once
// The figures of `ttctl debug status`: what became of the lines.
//
// **Thread safety:** thread-safe.

#include "control/target.h"

namespace telltale::server {

control::Status make_output_status();

}  // namespace telltale::server
