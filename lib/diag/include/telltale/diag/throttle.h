// SPDX-License-Identifier: Apache-2.0
#pragma once
// Throttle: a note, warning or error that repeats itself is written once, and counted from then on.
//
// Two limits, each for an interval. Of one message (level, place, format and arguments, byte for byte) one line
// is written; of one place `burst` lines of different messages. What is held back is counted, exactly, and at
// the interval's end one line says how many there were, also if nothing else is ever written. A message goes on
// being held back, with one such line an interval, until an interval passes without it.
//
// It decides on the writing thread, before a record is published: a flood takes no room in the thread's ring,
// so nothing of what the ring keeps for warnings and errors either. Debug and status lines, and those that end
// the process, are not throttled, nor is what is written while an Unthrottled lives.
//
// Kept + held back + dropped = sent. At most 512 messages and 255 places are told apart at a time. Beyond that,
// places share one limit, and a message repeats up to its place's.
//
// **Thread safety:** thread-safe. Cost of a line held back: its arguments' copies and a hash; no lock.

#include <chrono>
#include <cstdint>

#include <telltale/diag/export.h>

namespace telltale::diag {

struct ThrottleConfig {
  std::chrono::milliseconds interval{10'000};  // 0: nothing is throttled
  std::uint32_t burst = 50;                    // different messages of one place; at least 1
};

// In force for every line that begins after the call. What has been held back so far is told of.
TELLTALE_EXPORT void set_throttle(const ThrottleConfig& config) noexcept;
TELLTALE_EXPORT ThrottleConfig throttle() noexcept;

// Tells of all that is held back now, in lines of the calling thread: before an end, so that none is forgotten.
TELLTALE_EXPORT void tell_held_back() noexcept;

// Lines held back so far.
TELLTALE_EXPORT std::uint64_t lines_held_back() noexcept;

// Lines of this thread are not throttled while one lives: for what somebody asked for (an answer to a command,
// the end of a lease), where each line counts though it may look like the one before.
class Unthrottled {
 public:
  Unthrottled() noexcept { enter(); }
  ~Unthrottled() { leave(); }
  Unthrottled(const Unthrottled&) = delete;
  Unthrottled& operator=(const Unthrottled&) = delete;

 private:
  TELLTALE_EXPORT static void enter() noexcept;
  TELLTALE_EXPORT static void leave() noexcept;
};

}  // namespace telltale::diag
