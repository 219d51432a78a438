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

// How long a daemon may take.
struct Patience {
  std::chrono::milliseconds answer = std::chrono::seconds(10);  // to accept, and to answer
  std::chrono::milliseconds end = std::chrono::seconds(10);     // to end, after a stop
};

// `arguments` without the program's name. `environment_path`: TELLTALE_CONTROL, or empty.
[[nodiscard]] Outcome run(std::vector<std::string> arguments, const std::string& environment_path,
                          const Patience& patience = {});

}  // namespace telltale::control
