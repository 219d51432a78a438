// SPDX-License-Identifier: Apache-2.0
#pragma once
// The clock everything in the proxy reads, injected so that a test can move time by hand. Deadlines and
// durations use the steady time, HTTP dates the wall time. Workers read it once a turn of their loop
// (Worker::now()); code that runs on a worker asks the worker.
//
// **Thread safety:** thread-safe.

#include <chrono>

namespace telltale::net {

using SteadyTime = std::chrono::steady_clock::time_point;
using WallTime = std::chrono::system_clock::time_point;

// The deadline of what has none.
inline constexpr SteadyTime kNever = SteadyTime::max();

class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual SteadyTime steady_now() const noexcept = 0;
  [[nodiscard]] virtual WallTime system_now() const noexcept = 0;
};

// The kernel's clocks. Lives for ever.
[[nodiscard]] const Clock& system_clock() noexcept;

}  // namespace telltale::net
