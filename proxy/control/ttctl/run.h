// SPDX-License-Identifier: Apache-2.0
#pragma once
// ttctl as a function: the command line in, text and exit status out.
//
// **Thread safety:** thread-safe.

#include <chrono>
#include <string>
#include <vector>

namespace telltale::control {

inline constexpr int kExitDone = 0;
inline constexpr int kExitRefused = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitNoAnswer = 3;

struct Outcome {
  int exit_status = kExitDone;
  std::string out;
  std::string err;
};

// `arguments` without the program's name. `environment_path`: TELLTALE_CONTROL, or empty. `timeout`: for
// the daemon to accept, to answer, and to end after a stop.
[[nodiscard]] Outcome run(std::vector<std::string> arguments, const std::string& environment_path,
                          std::chrono::milliseconds timeout = std::chrono::seconds(10));

}  // namespace telltale::control
