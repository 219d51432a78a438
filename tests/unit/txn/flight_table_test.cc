// SPDX-License-Identifier: Apache-2.0
// Who leads, who waits, and how those who wait are let go.
#include "txn/flight_table.h"

#include <catch2/catch.hpp>
#include <list>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "net/task.h"
#include "tests/unit/net/on_worker.h"

namespace telltale::txn::test {
namespace {

using std::chrono::seconds;
using Landing = FlightTable::Landing;
using Joined = FlightTable::Joined;

// One request's part. Touched on the worker.
struct Request {
  Joined joined;
  std::optional<Landing> landed;
};

net::Detached wait_for_landing(Request& request) {
  const net::Wake wake = co_await request.joined.place.gate().wait();
  if (wake == net::Wake::kReady) request.landed = request.joined.place.landing();
}

class Flights {
 public:
  explicit Flights(std::size_t flights_max = FlightTable::kFlightsMax) : table(flights_max) {}
  ~Flights() { on.join(); }  // whoever still waits goes on

  Request& join(std::string_view key = "k", bool may_lead = true, std::size_t waiters_max = 100) {
    return *on.call([&] {
      Request& request = requests_.emplace_back();
      request.joined = table.join(cache::cache_key(key), on.worker(), on.worker().now(), ++transactions_, may_lead, waiters_max);
      if (request.joined.role == Joined::kWaits) wait_for_landing(request);
      return &request;
    });
  }
  std::size_t land(Request& request, Landing landing) {
    const std::size_t waited = on.call([&] { return request.joined.lead.land(landing); });
    on.settle();
    return waited;
  }
  void leave(Request& request) {
    on.call_and_settle([&] { request.joined.place.leave(); });
  }
  std::size_t let_go(Landing landing) {
    return on.call([&] {
      std::size_t count = 0;
      for (const Request& request : requests_) count += request.landed == landing;
      return count;
    });
  }

  FlightTable table;
  net::test::OnWorker on;

 private:
  std::list<Request> requests_;
  std::uint64_t transactions_ = 0;
};

TEST_CASE("FlightTable: the first leads, the others wait, and all are let go when the answer is stored", "[txn][flights]") {
  Flights flights;
  Request& leader = flights.join();
  CHECK(leader.joined.role == Joined::kLeads);
  for (int i = 0; i < 20; ++i) {
    const Request& request = flights.join();
    CHECK(request.joined.role == Joined::kWaits);
    CHECK(request.joined.leader == 1);
  }
  CHECK(flights.join("other").joined.role == Joined::kLeads);
  CHECK(flights.table.flights() == 2);
  CHECK(flights.on.call([&] { return leader.joined.lead.waiters(); }) == 20);
  CHECK(flights.land(leader, Landing::kStored) == 20);
  CHECK(flights.let_go(Landing::kStored) == 20);
  CHECK(flights.land(leader, Landing::kFailed) == 0);  // only the first landing counts
  CHECK(flights.table.flights() == 1);
  CHECK(flights.join().joined.role == Joined::kLeads);
}

TEST_CASE("FlightTable: a leader on another thread lets them go through their worker", "[txn][flights]") {
  Flights flights;
  Joined leader = flights.table.join(cache::cache_key("k"), flights.on.worker(), {}, 1, true, 100);
  for (int i = 0; i < 5; ++i) flights.join();
  std::thread([&] { leader.lead.land(Landing::kStored); }).join();
  flights.on.settle();
  CHECK(flights.let_go(Landing::kStored) == 5);
}

TEST_CASE("FlightTable: after an answer that is not for others, eight go at a time, and the next as one has gone", "[txn][flights]") {
  for (const Landing landing : {Landing::kNotStorable, Landing::kFailed}) {
    Flights flights;
    Request& leader = flights.join();
    std::vector<Request*> waiting;
    for (std::size_t i = 0; i < FlightTable::kReleasedMax + 2; ++i) waiting.push_back(&flights.join());
    CHECK(flights.land(leader, landing) == FlightTable::kReleasedMax + 2);
    CHECK(flights.let_go(landing) == FlightTable::kReleasedMax);
    flights.leave(*waiting[3]);
    CHECK(flights.let_go(landing) == FlightTable::kReleasedMax + 1);
    flights.leave(*waiting[0]);
    CHECK(flights.let_go(landing) == FlightTable::kReleasedMax + 2);
    flights.leave(*waiting[1]);  // nobody is left
    CHECK(flights.let_go(landing) == FlightTable::kReleasedMax + 2);
  }
}

TEST_CASE("FlightTable: exactly eight wait for nothing longer than the landing", "[txn][flights]") {
  Flights flights;
  Request& leader = flights.join();
  for (std::size_t i = 0; i < FlightTable::kReleasedMax; ++i) flights.join();
  flights.land(leader, Landing::kFailed);
  CHECK(flights.let_go(Landing::kFailed) == FlightTable::kReleasedMax);
}

TEST_CASE("FlightTable: after an answer that is not for others nobody waits for a while, after a failed one they do", "[txn][flights]") {
  Flights flights;
  flights.land(flights.join(), Landing::kNotStorable);
  CHECK(flights.join().joined.role == Joined::kAlone);
  CHECK(flights.join().joined.why == "the last answer was not for others");
  CHECK(flights.join("other").joined.role == Joined::kLeads);
  flights.on.advance(FlightTable::kNotCollapsedFor - seconds{1});
  CHECK(flights.join().joined.role == Joined::kAlone);
  flights.on.advance(seconds{1});
  Request& again = flights.join();
  CHECK(again.joined.role == Joined::kLeads);
  flights.land(again, Landing::kFailed);
  CHECK(flights.join().joined.role == Joined::kLeads);
}

TEST_CASE("FlightTable: so many as the limit wait, one more goes alone, and a place that is left is free", "[txn][flights]") {
  Flights flights;
  flights.join();
  Request& first = flights.join("k", true, 2);
  CHECK(first.joined.role == Joined::kWaits);
  CHECK(flights.join("k", true, 2).joined.role == Joined::kWaits);
  CHECK(flights.join("k", true, 2).joined.role == Joined::kAlone);
  CHECK(flights.join("k", true, 2).joined.why == "too many wait for it already");
  flights.on.call([&] { first.joined.place.gate().open(); });  // as if its time were over
  flights.on.settle();
  flights.leave(first);
  CHECK(flights.join("k", true, 2).joined.role == Joined::kWaits);
}

TEST_CASE("FlightTable: so many flights as the limit, one more is not waited for", "[txn][flights]") {
  Flights flights(3);
  Request& first = flights.join("1");
  flights.join("2");
  CHECK(flights.join("3").joined.role == Joined::kLeads);
  CHECK(flights.join("4").joined.role == Joined::kAlone);
  CHECK(flights.join("4").joined.why == "too many are being fetched");
  CHECK(flights.join("3").joined.role == Joined::kWaits);
  flights.land(first, Landing::kStored);
  CHECK(flights.join("4").joined.role == Joined::kLeads);
}

TEST_CASE("FlightTable: a request whose answer would not be for others waits, but does not lead", "[txn][flights]") {
  Flights flights;
  CHECK(flights.join("k", false).joined.role == Joined::kAlone);
  CHECK(flights.table.flights() == 0);
  flights.join();
  CHECK(flights.join("k", false).joined.role == Joined::kWaits);
}

TEST_CASE("FlightTable: a leader that ends without a word has failed", "[txn][flights]") {
  Flights flights;
  {
    Joined leader = flights.table.join(cache::cache_key("k"), flights.on.worker(), {}, 1, true, 100);
    flights.join();
  }
  flights.on.settle();
  CHECK(flights.let_go(Landing::kFailed) == 1);
  CHECK(flights.table.flights() == 0);
}

TEST_CASE("FlightTable: who has left is not let go, whatever comes", "[txn][flights]") {
  Flights flights;
  Request& leader = flights.join();
  Request& gone = flights.join();
  flights.on.call([&] { gone.joined.place.gate().open(); });
  flights.on.settle();
  gone.landed.reset();
  flights.leave(gone);
  CHECK(flights.land(leader, Landing::kStored) == 0);
  CHECK(flights.let_go(Landing::kStored) == 0);
}

TEST_CASE("FlightTable: many threads that lead and land leave nothing behind", "[txn][flights]") {
  Flights flights;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&flights, t] {
      for (int i = 0; i < 5000; ++i) {
        Joined joined = flights.table.join(cache::cache_key("k" + std::to_string(i % 3)), flights.on.worker(), {}, 1, true, 100);
        if (joined.role == Joined::kLeads && i % 2 == t % 2) joined.lead.land(i % 3 == 0 ? Landing::kFailed : Landing::kStored);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(flights.table.flights() == 0);
}

}  // namespace
}  // namespace telltale::txn::test
