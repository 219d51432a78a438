// SPDX-License-Identifier: Apache-2.0
#pragma once
// The daemon's command line.
//
// **Thread safety:** immutable once parsed.

#include <optional>
#include <string>
#include <vector>

namespace telltale::server {

struct Options {
  std::string config_dir;
  std::string runtime_dir;       // logs/ and the default control socket lie below it
  std::string control_path;
  std::vector<std::string> set;  // --set RECORD=VALUE
  std::optional<std::string> tags;
  bool check_only = false;
  bool show_secrets = false;  // nothing is masked
};

// Nullopt: the process is to exit with `exit_status` (help was printed, or a usage error).
std::optional<Options> parse_options(int argc, char** argv, int& exit_status);

}  // namespace telltale::server
