// SPDX-License-Identifier: Apache-2.0
#include "http2/frame_budget.h"

#include <catch2/catch.hpp>

using namespace telltale;
using namespace telltale::http2;
using std::chrono::seconds;

namespace {
constexpr net::SteadyTime kStart{seconds{1000}};
constexpr FrameKind kKinds[] = {FrameKind::kSettings,  FrameKind::kPing,         FrameKind::kPriority,
                                FrameKind::kRstStream, FrameKind::kContinuation, FrameKind::kEmpty};
}  // namespace

TEST_CASE("FrameBudget: as many frames of a kind as the limit says pass within a minute, and one more does not",
          "[http2][budget]") {
  const FrameLimits limits;
  for (FrameKind kind : kKinds) {
    CAPTURE(kind_name(kind));
    FrameBudget budget;
    for (std::uint32_t i = 0; i < limit_of(limits, kind); ++i) REQUIRE(budget.take(kind, limits, kStart + seconds{59}));
    CHECK_FALSE(budget.take(kind, limits, kStart + seconds{60}));
    CHECK_FALSE(budget.take(kind, limits, kStart + seconds{118}));
    CHECK(budget.take(kind, limits, kStart + seconds{119}));
  }
}

TEST_CASE("FrameBudget: each kind has a count of its own", "[http2][budget]") {
  FrameLimits limits;
  limits.settings_max = limits.ping_max = limits.priority_max = limits.rst_stream_max = limits.continuation_max =
      limits.empty_max = 1;
  FrameBudget budget;
  for (FrameKind kind : kKinds) CHECK(budget.take(kind, limits, kStart));
  for (FrameKind kind : kKinds) CHECK_FALSE(budget.take(kind, limits, kStart));
}

TEST_CASE("FrameBudget: a limit that is changed holds for the minute that runs", "[http2][budget]") {
  FrameLimits limits;
  FrameBudget budget;
  for (int i = 0; i < 10; ++i) CHECK(budget.take(FrameKind::kPing, limits, kStart));
  limits.ping_max = 10;
  CHECK_FALSE(budget.take(FrameKind::kPing, limits, kStart));
  limits.ping_max = 12;
  CHECK(budget.take(FrameKind::kPing, limits, kStart));
}
