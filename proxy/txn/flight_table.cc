// SPDX-License-Identifier: Apache-2.0
#include "txn/flight_table.h"

#include <list>
#include <utility>

#include "net/worker.h"

namespace telltale::txn {

// Whoever waits, from join() until its Place is gone. Links and state are guarded by the shard's mutex.
struct FlightTable::Waiter {
  enum State : std::uint8_t { kQueued, kReleased, kOut };

  Waiter(net::Worker& w, std::shared_ptr<Flight> f) : gate(w), flight(std::move(f)), worker(&w) {}

  // Loop-bound. `landing` is written before the post that opens the gate.
  net::Gate gate;
  Landing landing = Landing::kFailed;

  const std::shared_ptr<Flight> flight;
  State state = kQueued;
  std::list<std::shared_ptr<Waiter>>::iterator at;  // of kQueued, in the flight's queue

  std::mutex mutex;
  net::Worker* worker;  // guarded by mutex; null: the place is gone, and perhaps the worker too
};

struct FlightTable::Flight {
  Flight(FlightTable& t, Shard& s, std::string_view k, std::uint64_t hash_of_key, std::uint64_t transaction)
      : table(t), shard(s), text(k), hash(hash_of_key), leader(transaction) {}

  FlightTable& table;
  Shard& shard;
  const std::string text;
  const std::uint64_t hash;
  const std::uint64_t leader;

  // Guarded by the shard's mutex.
  bool landed = false;
  Landing landing = Landing::kFailed;
  std::list<std::shared_ptr<Waiter>> queue;
};

struct alignas(64) FlightTable::Shard {
  struct Mark {
    std::uint64_t hash = 0;
    net::SteadyTime until{};
  };
  mutable std::mutex mutex;
  // Guarded by mutex; keys refer to Flight::text.
  std::unordered_map<std::string_view, std::shared_ptr<Flight>> by_key;
  std::array<Mark, kMarksPerShard> marks;
  net::SteadyTime now{};  // of the last join(): good enough to date a mark with
};

FlightTable::FlightTable(std::size_t flights_max)
    : flights_max_(flights_max), shards_(std::make_unique<std::array<Shard, kShards>>()) {}

FlightTable::~FlightTable() = default;

FlightTable::Joined FlightTable::join(const cache::CacheKey& key, net::Worker& worker, net::SteadyTime now,
                                      std::uint64_t transaction, bool may_lead, std::size_t waiters_max) {
  Shard& shard = (*shards_)[key.hash >> 58];
  std::lock_guard lock(shard.mutex);
  shard.now = now;
  if (auto at = shard.by_key.find(key.text); at != shard.by_key.end()) {
    const std::shared_ptr<Flight>& flight = at->second;
    if (flight->queue.size() >= waiters_max) return {.why = "too many wait for it already"};
    Joined joined{.role = Joined::kWaits, .leader = flight->leader};
    joined.place.waiter_ = std::make_shared<Waiter>(worker, flight);
    joined.place.waiter_->at = flight->queue.insert(flight->queue.end(), joined.place.waiter_);
    return joined;
  }
  if (!may_lead) return {.why = "its own answer would not be for others"};
  const Shard::Mark& mark = shard.marks[key.hash % kMarksPerShard];
  if (mark.hash == key.hash && now < mark.until) return {.why = "the last answer was not for others"};
  if (flights_.load(std::memory_order_relaxed) >= flights_max_) return {.why = "too many are being fetched"};
  flights_.fetch_add(1, std::memory_order_relaxed);
  Joined joined{.role = Joined::kLeads};
  joined.lead.flight_ = std::make_shared<Flight>(*this, shard, key.text, key.hash, transaction);
  shard.by_key.emplace(joined.lead.flight_->text, joined.lead.flight_);
  return joined;
}

// REQUIRES: no shard's mutex is held.
void FlightTable::let_go(const std::shared_ptr<Waiter>& waiter, Landing landing) {
  std::lock_guard lock(waiter->mutex);
  if (waiter->worker == nullptr) return;
  waiter->worker->post([waiter, landing] {
    waiter->landing = landing;
    waiter->gate.open();
  });
}

FlightTable::Lead& FlightTable::Lead::operator=(Lead&& other) noexcept {
  if (this != &other) {
    land(Landing::kFailed);
    flight_ = std::move(other.flight_);
  }
  return *this;
}

std::size_t FlightTable::Lead::land(Landing landing) noexcept {
  if (!flight_) return 0;
  const std::shared_ptr<Flight> flight = std::exchange(flight_, nullptr);
  Shard& shard = flight->shard;
  std::list<std::shared_ptr<Waiter>> go;
  std::size_t waited;
  {
    std::lock_guard lock(shard.mutex);
    flight->landed = true;
    flight->landing = landing;
    waited = flight->queue.size();
    const bool stored = landing == Landing::kStored;
    while (!flight->queue.empty() && (stored || go.size() < kReleasedMax)) {
      flight->queue.front()->state = stored ? Waiter::kOut : Waiter::kReleased;
      go.splice(go.end(), flight->queue, flight->queue.begin());
    }
    if (landing == Landing::kNotStorable) {
      shard.marks[flight->hash % kMarksPerShard] = {flight->hash, shard.now + kNotCollapsedFor};
    }
    shard.by_key.erase(flight->text);
  }
  flight->table.flights_.fetch_sub(1, std::memory_order_relaxed);
  for (const std::shared_ptr<Waiter>& waiter : go) let_go(waiter, landing);
  return waited;
}

std::size_t FlightTable::Lead::waiters() const noexcept {
  if (!flight_) return 0;
  std::lock_guard lock(flight_->shard.mutex);
  return flight_->queue.size();
}

FlightTable::Place& FlightTable::Place::operator=(Place&& other) noexcept {
  if (this != &other) {
    leave();
    waiter_ = std::move(other.waiter_);
  }
  return *this;
}

net::Gate& FlightTable::Place::gate() noexcept { return waiter_->gate; }
FlightTable::Landing FlightTable::Place::landing() const noexcept { return waiter_->landing; }

void FlightTable::Place::leave() noexcept {
  if (!waiter_) return;
  const std::shared_ptr<Waiter> waiter = std::exchange(waiter_, nullptr);
  Flight& flight = *waiter->flight;
  std::list<std::shared_ptr<Waiter>> next;
  Landing landing;
  {
    std::lock_guard lock(flight.shard.mutex);
    landing = flight.landing;
    if (waiter->state == Waiter::kQueued) {
      flight.queue.erase(waiter->at);
    } else if (waiter->state == Waiter::kReleased && !flight.queue.empty()) {
      flight.queue.front()->state = Waiter::kReleased;
      next.splice(next.end(), flight.queue, flight.queue.begin());
    }
    waiter->state = Waiter::kOut;
  }
  {
    std::lock_guard lock(waiter->mutex);
    waiter->worker = nullptr;
  }
  if (!next.empty()) let_go(next.front(), landing);
}

}  // namespace telltale::txn
