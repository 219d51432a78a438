// SPDX-License-Identifier: Apache-2.0
#pragma once
// A transaction: one request and its answer, whichever protocol the client speaks.
//
// run() reads top to bottom like the life of a request: hooks, remap, cache look-up, origin, store, response.
// There is one path for hits and misses.
//
// **Thread safety:** loop-bound. **Source:** RFC 9110; RFC 9111; RFC 9209 for what the proxy answers itself.

#include <cstdint>
#include <optional>
#include <string_view>

#include <telltale/diag/scope.h>

#include "cache/cache_key.h"
#include "http/exchange.h"
#include "http/failure.h"
#include "net/frame_list.h"
#include "txn/cache_fill.h"
#include "txn/cache_lookup.h"
#include "txn/cache_status.h"
#include "txn/flight_table.h"
#include "txn/hooks.h"
#include "txn/origin_fetch.h"
#include "txn/resource.h"
#include "txn/stored_build.h"
#include "txn/worker_state.h"

namespace telltale::txn {

class Transaction final : private http::ClientWatcher {
 public:
  // All must outlive the transaction.
  Transaction(WorkerState& state, http::Exchange& exchange);
  ~Transaction();

  // Takes itself along: the one frame of the coroutine is all that a transaction needs beside its own memory.
  net::Task<void> run(std::unique_ptr<Transaction> self);

  static void* operator new(std::size_t bytes) { return net::FrameList::allocate(bytes); }
  static void operator delete(void* memory, std::size_t bytes) noexcept { net::FrameList::release(memory, bytes); }

  // For hooks.
  std::uint64_t id() const noexcept { return context_.transaction; }
  http::RequestHead& request() noexcept { return exchange_.request(); }
  // The head that is about to be sent; null before Hook::kSendResponse.
  http::ResponseHead* response() noexcept { return response_; }
  const net::Endpoint& client() const noexcept { return exchange_.client(); }
  HookRunner& hooks() noexcept { return hooks_; }
  // SpecificDbg lines print for it.
  bool locked_on() const noexcept { return context_.locked_on; }
  void lock_on(bool on) noexcept;
  // The same for its connection; null: the protocol has none.
  diag::Context* connection_context() noexcept { return exchange_.connection_context(); }

 private:
  class Awaited;

  bool remap();
  bool may_send_prepared(const Lookup& found) const noexcept;
  net::Task<void> answer_miss(Lookup& found);
  bool may_lead(const Lookup& found) const;
  net::Task<bool> wait_for_other(Lookup& found);
  net::Task<net::Wake> wait_at_place(net::SteadyTime deadline);
  bool may_use_on_error(const Lookup& found) const;
  net::Task<void> answer_from_origin(const Lookup& found);
  net::Task<void> send_freshened(const Lookup& found, const Freshened& fresh, const CacheFill::Context& context);
  net::Task<void> relay(OriginFetch& fetch, CacheFill& fill);
  void note_sent(bool sent) noexcept;
  void note_end() const;
  void client_gone() noexcept override;
  net::Task<void> send_stored(const cache::StoredResponse& stored, std::optional<std::chrono::seconds> age, CacheStatus status,
                              const http::Fields* more = nullptr);
  net::Task<void> answer_options();
  net::Task<void> fail(http::Failure failure, std::uint16_t status, std::string_view reason);
  net::Task<void> send_own(http::Failure failure, std::uint16_t status, std::string_view reason, bool with_hooks);
  net::Task<bool> send_response_hooks(http::ResponseHead& head);
  http::Fields origin_fields();
  void prepare_response(http::ResponseHead& head);

  // Constant after construction.
  WorkerState& state_;
  http::Exchange& exchange_;
  const RuntimePtr runtime_;
  const net::SteadyTime begun_;
  diag::Context context_;
  HookRunner hooks_;

  const remap::Mapping* rule_ = nullptr;  // in runtime_
  cache::KeyText key_text_;
  Resource resource_;                     // views of key_text_ and the rule
  FlightTable::Lead lead_;                // others may wait for this transaction's answer
  FlightTable::Place place_;              // this one waits for another's, or goes on its own after that
  bool collapsed_ = false;                // answered from what another one fetched
  http::ResponseHead* response_ = nullptr;
  OriginFetch* fetch_ = nullptr;     // whose answer is awaited, or comes
  net::SteadyTime connected_at_{};   // to the origin; the epoch: not asked
  net::SteadyTime head_at_{};        // the origin's head had come; the epoch: it did not
  std::uint16_t status_ = 0;         // of the answer; 0: there was none
  std::string_view why_incomplete_;  // a fixed text; empty: the client was sent all of the answer
};

// Answers every request of a worker's sessions with a transaction.
class TransactionHandler final : public http::Handler {
 public:
  explicit TransactionHandler(WorkerState& state) : state_(state) {}
  net::Task<void> serve(http::Exchange& exchange) override {
    auto transaction = std::make_unique<Transaction>(state_, exchange);
    Transaction& t = *transaction;
    return t.run(std::move(transaction));
  }

 private:
  WorkerState& state_;
};

}  // namespace telltale::txn
