// SPDX-License-Identifier: Apache-2.0
#include <telltale/diag/capture.h>

#include <atomic>
#include <mutex>
#include <utility>

#include "capture_line.h"

namespace telltale::diag {
namespace {

constinit std::atomic<std::uint64_t> captured_transaction{0};

struct Kept {
  std::mutex mutex;
  Captured now;  // guarded by mutex
};
Kept& kept() {
  static Kept* all = new Kept;
  return *all;
}

}  // namespace

// Relaxed: the record that makes the backend look comes through a ring, whose publishing orders the two.
void capture_transaction(std::uint64_t transaction) noexcept {
  captured_transaction.store(transaction, std::memory_order_relaxed);
}

void clear_capture() {
  std::lock_guard guard(kept().mutex);
  kept().now = {};
}

Captured take_captured() {
  std::lock_guard guard(kept().mutex);
  Captured taken{std::move(kept().now.lines), kept().now.lines_lost};
  kept().now.lines.clear();
  return taken;
}

bool is_captured(std::uint64_t transaction) noexcept {
  return transaction != 0 && transaction == captured_transaction.load(std::memory_order_relaxed);
}

void capture_line(std::string_view line) {
  std::lock_guard guard(kept().mutex);
  Captured& now = kept().now;
  if (now.lines.size() + line.size() > kCaptureBytesMax) {
    ++now.lines_lost;
  } else {
    now.lines += line;
  }
}

void capture_lost(std::uint64_t lines) {
  std::lock_guard guard(kept().mutex);
  kept().now.lines_lost += lines;
}

void lock_capture() noexcept { kept().mutex.lock(); }
void unlock_capture() noexcept { kept().mutex.unlock(); }

}  // namespace telltale::diag
