// SPDX-License-Identifier: Apache-2.0
#pragma once
// How the backend sleeps and is woken: one futex word.
//
// Producers use wake_backend(): a plain load, and a store and one system call only if the backend
// sleeps. It may miss a backend that is just falling asleep, which costs at most the longest sleep
// (50 ms). Control calls use wake_backend_surely(), whose partner is the backend's look at its queue
// of changes, under their lock, after it has raised the word.

#include <chrono>

namespace telltale::diag {

void wake_backend() noexcept;
void wake_backend_surely() noexcept;

// Backend: raises the word; then, unless cancelled, sleeps until woken or `most` has passed.
void prepare_to_sleep() noexcept;
void cancel_sleep() noexcept;
void sleep_until_woken(std::chrono::nanoseconds most) noexcept;

}  // namespace telltale::diag
