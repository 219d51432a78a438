// SPDX-License-Identifier: Apache-2.0
#pragma once
// ttctl debug cat: record logs as text. Reads files directly; no daemon is needed.
//
// Several files are merged by time, those of one process by its own clock. Rolled files may be compressed.
//
// **Thread safety:** thread-safe.

#include <chrono>
#include <string>
#include <vector>

#include "control/ttctl/run.h"
#include "record_log_view.h"

namespace telltale::control {

// Lines go to output.out, what is wrong with a file to output.err. Exit status: kExitRefused where something was.
[[nodiscard]] int cat_logs(const std::vector<std::string>& paths, const diag::LogView& view, const Output& output);

// Shows what the file has, and then what it grows by, until output.out says that nobody reads any more. Goes on in
// the next file when it is rolled, and from its beginning when it is truncated; waits for it while it is not there.
// Cost: looks at it each `pause`.
[[nodiscard]] int follow_log(const std::string& path, const diag::LogView& view, const Output& output,
                             std::chrono::milliseconds pause = std::chrono::milliseconds(100));

}  // namespace telltale::control
