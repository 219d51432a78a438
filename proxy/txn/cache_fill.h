// SPDX-License-Identifier: Apache-2.0
#pragma once
// The copy of an origin's response that is taken while it passes to the client, and that enters the cache when it
// is complete. One per response; a fill whose response may not be stored does nothing.
//
// **Thread safety:** loop-bound. **Source:** RFC 9111, section 3.

#include <string>
#include <string_view>

#include "cache/storable.h"
#include "http/response_head.h"
#include "net/clock.h"
#include "txn/resource.h"
#include "txn/worker_state.h"

namespace telltale::txn {

class CacheFill {
 public:
  // `verdict` says whether the response is stored; the head is copied before hooks change the client's. All
  // references must outlive the fill.
  CacheFill(WorkerState& state, const Resource& resource, const http::ResponseHead& head, const cache::Verdict& verdict,
            net::SteadyTime received_at, std::size_t bytes_max);

  bool active() const noexcept { return active_; }

  // Takes the next piece of content. Stores the response with its last byte where its length is known.
  void add(std::string_view piece);
  // The response is whole: stores it, if that is not done.
  void complete();
  // The response ended early: nothing is stored.
  void abandon();

 private:
  void store();

  WorkerState& state_;
  const Resource& resource_;
  const cache::Verdict& verdict_;
  const net::SteadyTime received_at_;
  const std::size_t bytes_max_;
  bool active_;
  http::ResponseHead head_;
  std::string content_;
};

}  // namespace telltale::txn
