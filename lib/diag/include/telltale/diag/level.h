// SPDX-License-Identifier: Apache-2.0
#pragma once
// Level lines: status(), note(), warning() ... fatal(). Functions, never macros; always on.
//
// Like a debug line, a level line copies its arguments into the calling thread's ring and returns.
// Formats are checked at compile time. fatal(), alert() and emergency() end the process, after all
// queued lines are out or one second has passed, by _exit() with exit_status(): no destructor runs, no
// core is written. The statuses differ so that a service manager can tell what is worth a restart.
//
// note(), warning() and error() are throttled where they repeat themselves: throttle.h.
//
// **Thread safety:** thread-safe. Cost: no lock, no allocation but the first line of a thread.

#include <source_location>
#include <type_traits>

#include <telltale/diag/record.h>

namespace telltale::diag {

// A format and the place it is written at; built by the compiler from a string literal.
template <class... A>
struct LocatedFormat {
  template <class Literal>
  consteval LocatedFormat(const Literal& text,
                          std::source_location at = std::source_location::current())
      : format(text), where(at) {
    (void)CheckedFormat<A...>(text);
  }
  const char* format;
  std::source_location where;
};

// Of a process ended by a level line. An emergency is what a restart will not help.
constexpr int exit_status(Level level) noexcept {
  return level == Level::kEmergency ? 72 : level == Level::kAlert ? 71 : 70;
}

namespace level_detail {
[[noreturn]] TELLTALE_EXPORT void end_process(Level level) noexcept;

template <class... A>
[[gnu::always_inline]] inline void write(Level level, const LocatedFormat<A...>& f, const A&... a) {
  write_located(Located{level, "", f.where.file_name(), f.where.function_name(), f.where.line(), f.format},
                stored(a)...);
}
}  // namespace level_detail

template <class... A>
void status(std::type_identity_t<LocatedFormat<A...>> f, const A&... a) {
  level_detail::write<A...>(Level::kStatus, f, a...);
}
template <class... A>
void note(std::type_identity_t<LocatedFormat<A...>> f, const A&... a) {
  level_detail::write<A...>(Level::kNote, f, a...);
}
template <class... A>
void warning(std::type_identity_t<LocatedFormat<A...>> f, const A&... a) {
  level_detail::write<A...>(Level::kWarning, f, a...);
}
template <class... A>
void error(std::type_identity_t<LocatedFormat<A...>> f, const A&... a) {
  level_detail::write<A...>(Level::kError, f, a...);
}
template <class... A>
[[noreturn]] void fatal(std::type_identity_t<LocatedFormat<A...>> f, const A&... a) {
  level_detail::write<A...>(Level::kFatal, f, a...);
  level_detail::end_process(Level::kFatal);
}
template <class... A>
[[noreturn]] void alert(std::type_identity_t<LocatedFormat<A...>> f, const A&... a) {
  level_detail::write<A...>(Level::kAlert, f, a...);
  level_detail::end_process(Level::kAlert);
}
template <class... A>
[[noreturn]] void emergency(std::type_identity_t<LocatedFormat<A...>> f, const A&... a) {
  level_detail::write<A...>(Level::kEmergency, f, a...);
  level_detail::end_process(Level::kEmergency);
}

}  // namespace telltale::diag
