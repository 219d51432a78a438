// SPDX-License-Identifier: Apache-2.0
#pragma once
// Waiting that SIGINT, SIGTERM and SIGHUP end, instead of the process: what a command has switched on in the daemon
// can be switched off again before it ends.
//
// **Thread safety:** for a process of one thread.

#include <chrono>

#include <signal.h>

namespace telltale::control {

class Interruption {
 public:
  // Holds these signals back as long as it lives.
  Interruption() noexcept;
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  // Waits that long. False: one of the signals came, now or before; it is taken.
  [[nodiscard]] bool wait(std::chrono::milliseconds time) noexcept;

 private:
  sigset_t signals_, former_;
};

}  // namespace telltale::control
