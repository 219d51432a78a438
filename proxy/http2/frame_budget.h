// SPDX-License-Identifier: Apache-2.0
#pragma once
// How many frames of the kinds that cost us work and move nothing one client may send within a minute. A session
// counts each such frame as its header arrives; the first one over a limit ends the connection with
// ENHANCE_YOUR_CALM. Minutes follow one another from a connection's first counted frame.
//
// **Thread safety:** thread-compatible.
// **Source:** RFC 9113 section 10.5; CVE-2019-9511 to 9518, CVE-2023-44487, CVE-2024-27316.

#include <array>
#include <cstddef>
#include <cstdint>

#include "net/clock.h"

namespace telltale::http2 {

// Limits for a minute.
struct FrameLimits {
  std::uint32_t settings_max = 14;  // without acknowledgements
  std::uint32_t ping_max = 60;      // without acknowledgements
  std::uint32_t priority_max = 120;
  std::uint32_t rst_stream_max = 200;
  std::uint32_t continuation_max = 120;
  std::uint32_t empty_max = 6000;  // DATA without a byte; WINDOW_UPDATE of next to nothing
};

enum class FrameKind : std::uint8_t { kSettings, kPing, kPriority, kRstStream, kContinuation, kEmpty };
inline constexpr std::size_t kFrameKinds = 6;

// "SETTINGS"; "empty or tiny" for kEmpty. Lives for ever.
const char* kind_name(FrameKind kind) noexcept;
std::uint32_t limit_of(const FrameLimits& limits, FrameKind kind) noexcept;

class FrameBudget {
 public:
  // Counts one. False: it is over the limit.
  [[nodiscard]] bool take(FrameKind kind, const FrameLimits& limits, net::SteadyTime now) noexcept;

 private:
  net::SteadyTime minute_ends_{};
  std::array<std::uint32_t, kFrameKinds> counts_{};
};

}  // namespace telltale::http2
