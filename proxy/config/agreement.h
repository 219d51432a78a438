// SPDX-License-Identifier: Apache-2.0
//
// What records must be together, though each by itself is valid. Looked at whenever a set of them is about to be
// the running one.
//
// **Thread safety:** pure functions.
#pragma once

#include "config/problem.h"
#include "config/records.h"

namespace telltale::config {

// Each problem names both records, and the place of the one to change.
Problems check_agreement(const Records& records);

}  // namespace telltale::config
