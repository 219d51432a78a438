// SPDX-License-Identifier: Apache-2.0
#pragma once
// The figures of `ttctl debug status`: what became of the lines, and what the flight recorder holds.
//
// **Thread safety:** thread-safe.

#include "config/records.h"
#include "control/target.h"

namespace telltale::server {

control::Status make_output_status(const config::Records& records);

}  // namespace telltale::server
