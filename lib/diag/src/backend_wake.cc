// SPDX-License-Identifier: Apache-2.0
// See backend_wake.h.
#include "backend_wake.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace telltale::diag {

namespace {
constinit std::atomic<std::uint32_t> asleep{0};
static_assert(sizeof asleep == 4 && std::atomic<std::uint32_t>::is_always_lock_free);

void futex_wake() noexcept { syscall(SYS_futex, &asleep, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0); }
}  // namespace

void wake_backend() noexcept {
  if (asleep.load(std::memory_order_relaxed) == 0) return;
  asleep.store(0, std::memory_order_relaxed);
  futex_wake();
}

void wake_backend_surely() noexcept {
  if (asleep.exchange(0) != 0) futex_wake();
}

void prepare_to_sleep() noexcept { asleep.store(1); }
void cancel_sleep() noexcept { asleep.store(0, std::memory_order_relaxed); }

void sleep_until_woken(std::chrono::nanoseconds most) noexcept {
  timespec t{static_cast<time_t>(most.count() / 1'000'000'000), static_cast<long>(most.count() % 1'000'000'000)};
  syscall(SYS_futex, &asleep, FUTEX_WAIT_PRIVATE, 1, &t, nullptr, 0);
  asleep.store(0, std::memory_order_relaxed);
}

}  // namespace telltale::diag
