// SPDX-License-Identifier: Apache-2.0
#pragma once
// LeaseMeters: how many lines each open lease has asked for, and how many it may.
//
// **Thread safety:** charge() is lock-free; open() and close() are called one at a time (Registry::changes).
// A number is given to another lease only after 61 others were opened, so a thread that still acts on a
// lease that has ended does not spend a line of the next one.

#include <array>
#include <atomic>
#include <cstdint>

#include "registry_verdict.h"

namespace telltale::diag {

class LeaseMeters {
 public:
  // May this line be written? `sources` ask for it; each lease of them is charged. The base is always good for it.
  bool charge(std::uint64_t sources) noexcept;

  // Could charge() be good for it now?
  bool can_pay(std::uint64_t sources) const noexcept;

  void open(unsigned number, std::uint64_t max_lines) noexcept;
  std::uint64_t lines(unsigned number) const noexcept;  // at most the limit
  bool spent(unsigned number) const noexcept;

  std::atomic<void (*)(void*) noexcept> notify{nullptr};
  std::atomic<void*> notify_with{nullptr};

 private:
  struct Meter {
    std::atomic<std::uint64_t> lines{0};
    std::atomic<std::uint64_t> max{0};  // 0: no limit
  };
  std::array<Meter, kSourcesMax> meters_{};
};

}  // namespace telltale::diag
