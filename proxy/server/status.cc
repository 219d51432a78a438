// SPDX-License-Identifier: Apache-2.0
#include "server/status.h"

#include <unistd.h>

#include <telltale/diag/debug_control.h>
#include <telltale/diag/output.h>
#include <telltale/diag/secret_values.h>
#include <telltale/diag/throttle.h>

#include "http/redaction.h"
#include "server/version.h"

namespace telltale::server {
namespace {

using config::Record;

std::uint64_t sum(const StatusInput& input, txn::Counter txn::Counters::*counter) {
  std::uint64_t total = 0;
  for (const auto& worker : input.workers) total += (worker->counters().*counter).value();
  return total;
}

std::string with_source(const StatusInput& input, Record record) {
  return fmt::format("\"{}\" ({})", input.records.string(record), config::to_string(input.records.source(record)));
}

control::StatusSection process(const StatusInput& input) {
  auto up = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - input.started);
  return {"process",
          {{"version", std::string(kVersion)},
           {"pid", static_cast<std::uint64_t>(::getpid())},
           {"uptime seconds", static_cast<std::uint64_t>(up.count())},
           {"configuration", input.options.config_dir},
           {"listeners", input.workers.front()->listeners()},
           {"workers", static_cast<std::uint64_t>(input.workers.size())}}};
}

control::StatusSection traffic(const StatusInput& input) {
  using C = txn::Counters;
  return {"traffic",
          {{"connections accepted", sum(input, &C::connections_accepted)},
           {"connections open", sum(input, &C::connections_open)},
           {"connections refused", sum(input, &C::connections_refused)},
           {"requests", sum(input, &C::requests)},
           {"requests to origins", sum(input, &C::origin_requests)},
           {"connections to origins", sum(input, &C::origin_connections)},
           {"failures", sum(input, &C::failures)}}};
}

control::StatusSection cache(const StatusInput& input) {
  using C = txn::Counters;
  return {"cache",
          {{"hits", sum(input, &C::cache_hits)},
           {"misses", sum(input, &C::cache_misses)},
           {"stale", sum(input, &C::cache_stale)},
           {"not looked up", sum(input, &C::cache_bypassed)},
           {"validated", sum(input, &C::cache_validated)},
           {"collapsed", sum(input, &C::cache_collapsed)},
           {"stored", sum(input, &C::cache_stored)},
           {"evicted", input.cache.evictions},
           {"objects", static_cast<std::uint64_t>(input.cache.objects)},
           {"bytes", static_cast<std::uint64_t>(input.cache.bytes)},
           {"capacity bytes", static_cast<std::uint64_t>(input.cache.capacity_bytes)}}};
}

control::StatusSection debug(const StatusInput& input) {
  control::StatusSection section{"debug",
                                 {{"mode", with_source(input, Record::kDiagsDebugEnabled)},
                                  {"tags", with_source(input, Record::kDiagsDebugTags)},
                                  {"client_ip", with_source(input, Record::kDiagsDebugClientIp)},
                                  {"rules", with_source(input, Record::kDebugRules)},
                                  {"sample", fmt::format("1/{} ({})", input.records.integer(Record::kDebugSample),
                                                         config::to_string(input.records.source(Record::kDebugSample)))},
                                  {"lines go to", with_source(input, Record::kDiagsOutputDebug)},
                                  {"secrets", std::string(http::secrets_shown() ? "SHOWN, by --show-secrets" : "masked")},
                                  {"secret values registered", static_cast<std::uint64_t>(diag::secret_value_count())}}};
  for (const diag::Lease& lease : diag::leases()) {
    section.items.push_back({fmt::format("lease {}", lease.id),
                             fmt::format("\"{}\"{}{}", lease.tags, lease.rules.empty() ? "" : ", rules \"" + lease.rules + "\"",
                                         lease.client_ip.empty() ? "" : " for clients " + lease.client_ip)});
  }
  return section;
}

control::StatusSection output() {
  diag::OutputStatus status = diag::output_status();
  diag::ControlCounters control = diag::control_counters();
  control::StatusSection section{"output",
                                 {{"records written", status.records_written},
                                  {"records dropped", status.records_dropped},
                                  {"lines written", status.lines_written},
                                  {"notes, warnings and errors held back", diag::lines_held_back()},
                                  {"lines lost by sinks", status.lines_lost},
                                  {"sink errors", status.sink_errors},
                                  {"string tags not cached", control.string_tags_uncached},
                                  {"pattern match errors", control.match_errors}}};
  for (std::size_t i = 0; i < status.threads.size(); ++i) {
    const diag::ThreadOutput& thread = status.threads[i];
    section.items.push_back({fmt::format("thread {} {}", i, thread.thread),
                             fmt::format("{} written, {} dropped", thread.written, thread.dropped)});
  }
  return section;
}

}  // namespace

control::Status make_status(const StatusInput& input) {
  return {process(input), traffic(input), cache(input), debug(input), output()};
}

}  // namespace telltale::server
