// SPDX-License-Identifier: Apache-2.0
#pragma once
// The copy of an origin's response that is taken while it passes to the client, and that enters the cache when it
// is complete. One per response; a fill whose response may not be stored does nothing. Whatever becomes of it, it
// lands the flight that others may wait for.
//
// **Thread safety:** loop-bound. **Source:** RFC 9111, section 3.

#include <string>
#include <string_view>

#include "cache/storable.h"
#include "http/response_head.h"
#include "net/clock.h"
#include "txn/flight_table.h"
#include "txn/resource.h"
#include "txn/worker_state.h"

namespace telltale::txn {

class CacheFill {
 public:
  // What it needs to know beside the response; the references must outlive the fill.
  struct Context {
    WorkerState& state;
    const TransactionSettings& settings;
    const Resource& resource;
    FlightTable::Lead& lead;
    std::uint32_t generation;  // of the key, from before the origin was asked
  };

  // The verdict says whether the response is stored; the head is copied before hooks change the client's.
  CacheFill(const Context& context, const http::ResponseHead& head, cache::Verdict verdict, net::SteadyTime received_at);

  // Content is still wanted.
  bool active() const noexcept { return active_; }

  // Takes the next piece of content. Stores the response with its last byte where its length is known.
  void add(std::string_view piece);
  // The response is whole: stores it, if that is not done.
  void complete();
  // The response ended early: nothing is stored.
  void abandon();

 private:
  void store();
  void give_up(std::string_view why, FlightTable::Landing landing);

  const Context context_;
  const cache::Verdict verdict_;
  const net::SteadyTime received_at_;
  bool active_ = true;
  http::ResponseHead head_;
  std::string content_;
};

// Puts a response into the cache, counts it, says so; lands the flight.
void store_response(const CacheFill::Context& context, cache::StoredResponsePtr stored, const cache::Verdict& verdict);

// Lands it, and says what becomes of those who waited.
void land(FlightTable::Lead& lead, FlightTable::Landing landing);

}  // namespace telltale::txn
