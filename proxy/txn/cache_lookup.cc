// SPDX-License-Identifier: Apache-2.0
#include "txn/cache_lookup.h"

#include <telltale/diag/dbg.h>

#include "cache/storable.h"
#include "http/cache_control.h"
#include "http/print.h"

namespace telltale::txn {
namespace {

constexpr DbgCtl cache_dbg{"cache"};

using std::chrono::seconds;

}  // namespace

Lookup look_up(WorkerState& state, const TransactionSettings& settings, const http::RequestHead& request,
               const Resource& resource) {
  std::string_view why_not = settings.cache_enabled ? cache::why_request_bypasses(request) : "the cache is off";
  if (!why_not.empty()) {
    Dbg(cache_dbg, "not looked up: {}", why_not);
    state.counters.cache_bypassed.add();
    return {};
  }
  http::CacheControl wanted = http::parse_cache_control(request.fields);
  cache::StoredResponsePtr stored = state.cache.find(resource.key);
  if (!stored) {
    Dbg(cache_dbg, "{}{}: uri-miss", resource.authority, http::print_target(resource.target));
    state.counters.cache_misses.add();
    return {Lookup::kUriMiss, wanted.only_if_cached};
  }
  net::SteadyTime now = state.worker.now();
  seconds age = stored->current_age(now);
  bool too_old = wanted.no_cache || (wanted.max_age && age > seconds{*wanted.max_age}) ||
                 (wanted.min_fresh && stored->lifetime - age < seconds{*wanted.min_fresh});
  if (stored->fresh(now) && !too_old) {
    Dbg(cache_dbg, "{}{}: hit, {} s old of {} s", resource.authority, http::print_target(resource.target), age.count(),
        stored->lifetime.count());
    state.counters.cache_hits.add();
    return {Lookup::kHit, wanted.only_if_cached, std::move(stored)};
  }
  Dbg(cache_dbg, "{}{}: stale, {} s old of {} s{}", resource.authority, http::print_target(resource.target), age.count(),
      stored->lifetime.count(), too_old ? ", and the client wants a fresher one" : "");
  state.counters.cache_stale.add();
  return {Lookup::kStale, wanted.only_if_cached};
}

}  // namespace telltale::txn
