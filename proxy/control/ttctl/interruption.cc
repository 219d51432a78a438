// SPDX-License-Identifier: Apache-2.0
#include "control/ttctl/interruption.h"

#include <algorithm>
#include <cerrno>
#include <ctime>

namespace telltale::control {

Interruption::Interruption() noexcept {
  sigemptyset(&signals_);
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals_, signal);
  pthread_sigmask(SIG_BLOCK, &signals_, &former_);
}

Interruption::~Interruption() { pthread_sigmask(SIG_SETMASK, &former_, nullptr); }

bool Interruption::wait(std::chrono::milliseconds time) noexcept {
  const auto end = std::chrono::steady_clock::now() + time;
  for (;;) {
    auto left = std::max(std::chrono::nanoseconds{0}, std::chrono::nanoseconds{end - std::chrono::steady_clock::now()});
    const auto seconds = std::chrono::floor<std::chrono::seconds>(left);
    timespec timeout{seconds.count(), (left - seconds).count()};
    if (sigtimedwait(&signals_, nullptr, &timeout) > 0) return false;
    if (errno != EINTR) return true;
  }
}

}  // namespace telltale::control
