// SPDX-License-Identifier: Apache-2.0
#pragma once
// Collapsed forwarding: of several requests that miss for one key at the same time, one goes to the origin (it leads a
// flight), the others wait and are answered from what it stored. Across workers: whoever waits is suspended and let
// go through the mailbox of its own worker.
//
// A flight lands once:
//
//   kStored       | all waiters are let go, and look up again
//   kNotStorable  | they go to the origin on their own, at most kReleasedMax at a time; and for kNotCollapsedFor new
//                 | requests for the key do not wait for one another at all, since they would do so in vain
//   kFailed       | they go on their own in the same way; the next request leads anew
//
// Limits: flights (kFlightsMax; beyond it a request is neither led nor waited for), waiters of a flight (the
// caller's), and keys remembered as not storable (a fixed table; a newer one takes the place of an older one).
//
// **Thread safety:** thread-safe; Lead and Place belong to one transaction and its worker. A shard's mutex is held for
// changes of links only; waiters are let go outside it. **Source:** RFC 9111, section 4; RFC 9211 ("collapsed").

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "cache/cache_key.h"
#include "net/clock.h"
#include "net/gate.h"

namespace telltale::txn {

class FlightTable {
  struct Shard;
  struct Flight;
  struct Waiter;

 public:
  static constexpr std::size_t kFlightsMax = 4096;
  static constexpr std::size_t kReleasedMax = 8;
  static constexpr std::chrono::seconds kNotCollapsedFor{10};

  explicit FlightTable(std::size_t flights_max = kFlightsMax);
  ~FlightTable();
  FlightTable(const FlightTable&) = delete;
  FlightTable& operator=(const FlightTable&) = delete;

  enum class Landing : std::uint8_t { kStored, kNotStorable, kFailed };

  // Who leads; empty for all others. Lands as kFailed when it is destroyed.
  class Lead {
   public:
    Lead() = default;
    Lead(Lead&& other) noexcept = default;
    Lead& operator=(Lead&& other) noexcept;
    ~Lead() {
      if (flight_) land(Landing::kFailed);
    }

    // Only the first call counts. Returns how many waited. Cost: with waiters a post for each that is let go.
    std::size_t land(Landing landing) noexcept;
    // How many wait now.
    std::size_t waiters() const noexcept;

   private:
    friend class FlightTable;
    std::shared_ptr<Flight> flight_;  // shared with its waiters
  };

  // A place among the waiters; empty for all others. Destroying it lets go of it, and lets the next one go where
  // waiters go on their own. REQUIRES: destroyed on its worker, nobody waits at its gate.
  class Place {
   public:
    Place() = default;
    Place(Place&& other) noexcept = default;
    Place& operator=(Place&& other) noexcept;
    ~Place() {
      if (waiter_) leave();
    }

    // Opens when the flight has landed. REQUIRES: not empty.
    net::Gate& gate() noexcept;
    // REQUIRES: the gate has opened.
    Landing landing() const noexcept;
    void leave() noexcept;

   private:
    friend class FlightTable;
    std::shared_ptr<Waiter> waiter_;  // shared with the flight
  };

  struct Joined {
    enum Role : std::uint8_t { kAlone, kLeads, kWaits } role = kAlone;
    std::string_view why{};          // of kAlone: a fixed phrase
    std::uint64_t leader = 0;        // of kWaits: its transaction
    Lead lead{};
    Place place{};
  };
  // may_lead: the answer to this request could be for others; without it, it only waits where somebody leads.
  Joined join(const cache::CacheKey& key, net::Worker& worker, net::SteadyTime now, std::uint64_t transaction, bool may_lead,
              std::size_t waiters_max);

  std::size_t flights() const noexcept { return flights_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::size_t kShards = 64;
  static constexpr std::size_t kMarksPerShard = 64;

  static void let_go(const std::shared_ptr<Waiter>& waiter, Landing landing);

  const std::size_t flights_max_;
  std::atomic<std::size_t> flights_{0};  // a count for the limit; orders nothing
  const std::unique_ptr<std::array<Shard, kShards>> shards_;
};

}  // namespace telltale::txn
