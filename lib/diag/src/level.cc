// SPDX-License-Identifier: Apache-2.0
// How fatal(), alert() and emergency() end the process: see end_process() in <telltale/diag/level.h>.
#include <telltale/diag/level.h>
#include <telltale/diag/output.h>
#include <telltale/diag/throttle.h>

#include <unistd.h>

#include "output_control.h"

namespace telltale::diag::level_detail {

// _exit(), not exit(): destructors would run while other threads still work, and may wait for what is
// broken. A process that has not configured output yet, or has stopped it, gets a backend once more.
void end_process(Level level) noexcept {
  output_control().start();
  tell_held_back();
  flush_output(std::chrono::seconds(1));
  _exit(exit_status(level));
}

}  // namespace telltale::diag::level_detail
