// SPDX-License-Identifier: Apache-2.0
#pragma once
// The daemon's flight recorder: where it lies, and what a core file needs for it.
//
// **Thread safety:** main thread only.

#include <filesystem>

#include <tl/expected.hpp>

#include <telltale/diag/refusal.h>

#include "config/records.h"

namespace telltale::server {

// The folder that proxy.config.telltale.recorder.path names, below the configuration folder where it is relative; by
// default RUNTIME/recorder where that is on a tmpfs, else /dev/shm/telltale-UID-PATH with the runtime folder's path.
std::filesystem::path recorder_folder(const config::Records& records, const std::filesystem::path& config_dir,
                                      const std::filesystem::path& runtime_dir);

// Switches the recorder on, if it is to be. A folder that cannot be used is told in a warning: the daemon serves
// without it. RUNTIME/recorder leads to the folder from then on.
void start_recorder(const config::Records& records, const std::filesystem::path& config_dir,
                    const std::filesystem::path& runtime_dir);

// proxy.config.telltale.recorder.tags, where the recorder is on.
tl::expected<void, diag::Refusal> arm_recorder(const config::Records& records);

}  // namespace telltale::server
