// SPDX-License-Identifier: Apache-2.0
#include "http2/frame_budget.h"

namespace telltale::http2 {

const char* kind_name(FrameKind kind) noexcept {
  switch (kind) {
    case FrameKind::kSettings:
      return "SETTINGS";
    case FrameKind::kPing:
      return "PING";
    case FrameKind::kPriority:
      return "PRIORITY";
    case FrameKind::kRstStream:
      return "RST_STREAM";
    case FrameKind::kContinuation:
      return "CONTINUATION";
    case FrameKind::kEmpty:
      break;
  }
  return "empty or tiny";
}

std::uint32_t limit_of(const FrameLimits& limits, FrameKind kind) noexcept {
  switch (kind) {
    case FrameKind::kSettings:
      return limits.settings_max;
    case FrameKind::kPing:
      return limits.ping_max;
    case FrameKind::kPriority:
      return limits.priority_max;
    case FrameKind::kRstStream:
      return limits.rst_stream_max;
    case FrameKind::kContinuation:
      return limits.continuation_max;
    case FrameKind::kEmpty:
      break;
  }
  return limits.empty_max;
}

bool FrameBudget::take(FrameKind kind, const FrameLimits& limits, net::SteadyTime now) noexcept {
  if (now >= minute_ends_) {
    counts_ = {};
    minute_ends_ = now + std::chrono::minutes{1};
  }
  return ++counts_[static_cast<std::size_t>(kind)] <= limit_of(limits, kind);
}

}  // namespace telltale::http2
