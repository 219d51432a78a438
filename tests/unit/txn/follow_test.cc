// SPDX-License-Identifier: Apache-2.0
// Which transactions are followed, and which of them are shown at their end.
#include "txn/follow.h"

#include <catch2/catch.hpp>

#include <telltale/diag/capture.h>

namespace telltale::txn {
namespace {

using namespace std::chrono_literals;

Follow::Matches all() {
  return [](const http::RequestHead&, const diag::Client*) { return true; };
}

struct One {
  diag::Context context;
  bool claimed;
  One(Follow& follow, std::uint64_t transaction) {
    context.transaction = transaction;
    claimed = follow.offer(http::RequestHead{}, context);
  }
};

Follow::Wanted with_status(std::initializer_list<std::size_t> codes, unsigned count = 1) {
  Follow::Wanted wanted;
  wanted.statuses.emplace();
  for (std::size_t code : codes) wanted.statuses->set(code);
  wanted.count = count;
  return wanted;
}

}  // namespace

TEST_CASE("Follow: without a condition the next one is it, and no further one", "[txn][follow]") {
  Follow follow;
  CHECK_FALSE(One(follow, 1).claimed);
  follow.begin(7, all(), {});
  One one(follow, 2);
  CHECK(one.claimed);
  CHECK(one.context.followed == 7);
  CHECK_FALSE(One(follow, 3).claimed);
  CHECK(follow.now().state == Follow::State::kUnderWay);
  follow.end(one.context, {200, 1ms});
  CHECK(follow.now().state == Follow::State::kEnded);
  CHECK(follow.now().transaction == 2);
  follow.stop();
  diag::capture_transaction(0);
}

TEST_CASE("Follow: with one, all are held until so many have ended like that", "[txn][follow]") {
  Follow follow;
  diag::hold_begin(1h);
  follow.begin(7, all(), with_status({0, 503}, 2));
  One a(follow, 1), b(follow, 2), c(follow, 3), d(follow, 4);
  CHECK((a.claimed && b.claimed && c.claimed && d.claimed));
  follow.end(a.context, {200, 1ms});
  CHECK(follow.now().shown.empty());
  follow.end(b.context, {503, 2ms});
  CHECK(follow.now().state == Follow::State::kWaiting);
  follow.end(c.context, {0, 3ms});
  CHECK(follow.now().state == Follow::State::kEnded);
  follow.end(d.context, {503, 4ms});  // one too many
  const std::vector<Follow::Shown> shown = follow.now().shown;
  REQUIRE(shown.size() == 2);
  CHECK((shown[0].transaction == 2 && shown[0].end.status == 503 && shown[0].end.time == 2ms));
  CHECK((shown[1].transaction == 3 && shown[1].end.status == 0));
  CHECK_FALSE(One(follow, 5).claimed);
  diag::hold_end();
}

TEST_CASE("Follow: what a former lease claimed is not shown to the next", "[txn][follow]") {
  Follow follow;
  diag::hold_begin(1h);
  follow.begin(7, all(), with_status({503}));
  One of_former(follow, 1);
  follow.stop();
  follow.begin(8, all(), with_status({503}));
  follow.end(of_former.context, {503, 1ms});
  CHECK(follow.now().shown.empty());
  CHECK(follow.now().state == Follow::State::kWaiting);
  diag::hold_end();
}

TEST_CASE("Follow: all that is wanted has to hold", "[txn][follow]") {
  Follow::Wanted wanted = with_status({503});
  wanted.slower_than = 500ms;
  CHECK(wanted.fits({503, 501ms}));
  CHECK_FALSE(wanted.fits({503, 500ms}));
  CHECK_FALSE(wanted.fits({200, 501ms}));
  CHECK_FALSE(wanted.fits({999, 501ms}));
  CHECK_FALSE(wanted.streams());
  CHECK(Follow::Wanted{}.streams());
  CHECK(Follow::Wanted{}.fits({}));
}

}  // namespace telltale::txn
