// SPDX-License-Identifier: Apache-2.0
#include "net/clock.h"

namespace telltale::net {
namespace {

class SystemClock final : public Clock {
 public:
  [[nodiscard]] SteadyTime steady_now() const noexcept override { return std::chrono::steady_clock::now(); }
  [[nodiscard]] WallTime system_now() const noexcept override { return std::chrono::system_clock::now(); }
};

}  // namespace

const Clock& system_clock() noexcept {
  static const SystemClock clock;
  return clock;
}

}  // namespace telltale::net
