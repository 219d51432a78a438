// SPDX-License-Identifier: Apache-2.0
// The public side of the flight recorder; see <telltale/diag/recorder.h>. The work is in recorder_files.h,
// ring_table.h and recorder_tags.cc.
#include <telltale/diag/recorder.h>

#include "plugin_names.h"
#include "recorder_files.h"
#include "ring_table.h"

namespace telltale::diag {

tl::expected<std::string, std::string> configure_recorder(const RecorderConfig& config) {
  auto directory = recorder_files().open(config);
  if (!directory) return directory;
  tell_plugins_to_recorder();
  ring_table().retire_private_rings();
  return directory;
}

std::string recorder_directory() { return recorder_files().directory(); }

RecorderState recorder_state() {
  RecorderState state = ring_table().recorder_state();
  state.directory = recorder_files().directory();
  if (!state.directory.empty()) state.bytes += recorder_files().bytes();
  return state;
}

}  // namespace telltale::diag
