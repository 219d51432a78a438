// SPDX-License-Identifier: Apache-2.0
#pragma once
// ttctl recorder ...: a flight recorder as text. Reads its files directly; no daemon is needed.
//
// **Thread safety:** thread-compatible.

#include <string>

#include <CLI/CLI.hpp>

#include "control/ttctl/command_line.h"
#include "control/ttctl/log_options.h"
#include "control/ttctl/run.h"

namespace telltale::control {

class RecorderCommands {
 public:
  // `command` is filled in when one of them was given. `config`: what --config says, looked at after the parse. All
  // three outlive it.
  RecorderCommands(CLI::App& recorder, Command& command, const std::string& config);

 private:
  void dump();

  Command& command_;
  const std::string& config_;
  LogOptions log_options_;
  std::string where_, core_;
};

// Where a recorder is to be looked for: a directory, the number of a process that lives or has died, a core file.
struct RecorderPlace {
  std::string where;
  bool core = false;
};
// Lines go to output.out, what is wrong to output.err. Exit status: kExitRefused where something was.
[[nodiscard]] int dump_recorder(const RecorderPlace& place, const diag::LogView& view, const Output& output);

}  // namespace telltale::control
