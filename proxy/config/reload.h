// SPDX-License-Identifier: Apache-2.0
//
// What a reload of records.yaml does to the running values. A record is touched only where its text in
// the file changed: what was set at run time or on the command line stays as long as the file says the
// same about it, and gives way, whatever its source, when the file says something new. A record that the
// file no longer names goes back to its default.
//
// **Thread safety:** thread-safe.
// **Source:** docs/diagnostics, "what is on".
#pragma once

#include <tl/expected.hpp>
#include <vector>

#include "config/problem.h"
#include "config/records.h"
#include "config/records_file.h"

namespace telltale::config {

struct Reload {
  Records running;  // the new running values; what needs a restart keeps the value that is in force

  std::vector<Record> changed;  // their running value is another one now

  // Restart-only records for which the file says something else than what is in force. They stay in this
  // list with every reload until the file or the process gives in. Those given on the command line are not
  // in it, since a restart would not change them.
  std::vector<Record> needs_restart;
};

// `before` is the file as last loaded, `after` as it is now. Errors: values that the check of the running
// records refuses; then nothing has changed.
tl::expected<Reload, Problems> reload(const RecordsFile& before, const Records& running,
                                      const RecordsFile& after);

}  // namespace telltale::config
