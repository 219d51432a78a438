// SPDX-License-Identifier: Apache-2.0
#pragma once
// ttctl as a function: the command line in, text and exit status out.
//
// **Thread safety:** thread-safe.

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
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

// Where commands that read files write, piece by piece. `out` returns false when nobody reads any more.
struct Output {
  std::function<bool(std::string_view)> out;
  std::function<void(std::string_view)> err;
};

// How long a daemon may take.
struct Patience {
  std::chrono::milliseconds answer = std::chrono::seconds(10);  // to accept, and to answer
  std::chrono::milliseconds end = std::chrono::seconds(10);     // to end, after a stop
};

// `arguments` without the program's name. `environment_path`: TELLTALE_CONTROL, or empty. What is written to
// `output` is not in the outcome; without one all of it is.
[[nodiscard]] Outcome run(std::vector<std::string> arguments, const std::string& environment_path,
                          const Patience& patience = {}, const Output* output = nullptr);

}  // namespace telltale::control
