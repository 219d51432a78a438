// SPDX-License-Identifier: Apache-2.0
#include "server/settings.h"

#include <algorithm>
#include <charconv>
#include <thread>

#include "config/syslog_facility.h"
#include "plugin/plugin_config.h"

namespace telltale::server {
namespace {

using config::Record;
using config::Records;

std::chrono::seconds seconds(const Records& records, Record record) {
  return std::chrono::seconds{records.integer(record)};
}

std::size_t size(const Records& records, Record record) { return static_cast<std::size_t>(records.integer(record)); }

std::uint32_t count(const Records& records, Record record) { return static_cast<std::uint32_t>(records.integer(record)); }

bool on(const Records& records, Record record) { return records.integer(record) != 0; }

// A text that was checked as a fraction. Independent of the locale.
double fraction(std::string_view text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

diag::RouteBits routes(std::string_view letters) {
  diag::RouteBits bits = 0;
  for (char letter : letters) bits = static_cast<diag::RouteBits>(bits | route_of(letter));
  return bits;
}

bool is_stream(std::string_view name) { return name == "stdout" || name == "stderr"; }

// diags.log: diags.blog; others: their name and ".blog".
std::filesystem::path binary_log_of(std::filesystem::path log) {
  return log.extension() == ".log" ? log.replace_extension(".blog") : log.concat(".blog");
}

constexpr std::uint64_t kMegabyte = 1'000'000;

std::uint64_t megabytes(const Records& records, Record record) {
  return static_cast<std::uint64_t>(records.integer(record)) * kMegabyte;
}

// Off is off: the limits of rolled files do not delete what an earlier setting left.
diag::RollSettings roll_settings(const Records& r) {
  std::int64_t when = r.integer(Record::kDiagsLogfileRollingEnabled);
  if (when == 0) return {};
  diag::RollSettings roll;
  if ((when & 1) != 0) roll.interval = seconds(r, Record::kDiagsLogfileRollingIntervalSec);
  if ((when & 2) != 0) roll.size_bytes = megabytes(r, Record::kDiagsLogfileRollingSizeMb);
  roll.min_count = count(r, Record::kDiagsLogfileRollingMinCount);
  roll.age_max = seconds(r, Record::kDiagLogfileMaxAgeSec);
  roll.space_bytes_max = megabytes(r, Record::kDiagLogfileMaxSpaceMb);
  roll.compress = on(r, Record::kDiagLogfileCompress);
  return roll;
}

}  // namespace

txn::TransactionSettings transaction_settings(const Records& r) {
  return {
      .cache_enabled = on(r, Record::kHttpCacheHttp),
      .pristine_host = on(r, Record::kUrlRemapPristineHostHdr),
      .request_via = on(r, Record::kHttpInsertRequestViaStr),
      .response_via = on(r, Record::kHttpInsertResponseViaStr),
      .cache_status = on(r, Record::kCacheInsertCacheStatus),
      .object_bytes_max = size(r, Record::kCacheObjectSizeMax),
      .variants_max = size(r, Record::kCacheVariantsMax),
      .heuristic = {.lm_factor = fraction(r.string(Record::kHttpCacheHeuristicLmFactor)),
                    .lifetime_min = seconds(r, Record::kHttpCacheHeuristicMinLifetime),
                    .lifetime_max = seconds(r, Record::kHttpCacheHeuristicMaxLifetime)},
      .collapse_max = seconds(r, Record::kCacheCollapseTimeout),
      .collapse_waiters_max = size(r, Record::kCacheCollapseWaitersMax),
      .origin_inactivity_max = seconds(r, Record::kHttpTransactionNoActivityTimeoutOut),
  };
}

void apply_settings(const Records& r, txn::WorkerState& state) {
  std::size_t fields_max = size(r, Record::kHttpHeaderFieldCountMax);
  std::size_t request_head_max = size(r, Record::kHttpRequestHeaderMaxSize);
  std::size_t response_head_max = size(r, Record::kHttpResponseHeaderMaxSize);
  state.session_settings.head = {request_head_max, fields_max};
  state.session_settings.keep_alive_max = seconds(r, Record::kHttpKeepAliveNoActivityTimeoutIn);
  state.session_settings.request_head_max = seconds(r, Record::kHttpRequestHeadTimeout);
  state.session_settings.client_inactivity_max = seconds(r, Record::kHttpTransactionNoActivityTimeoutIn);
  http2::SessionSettings& h2 = state.http2_settings;
  h2.streams_max = count(r, Record::kHttp2MaxConcurrentStreamsIn);
  h2.stream_window_bytes = count(r, Record::kHttp2InitialWindowSizeIn);
  h2.connection_window_bytes = count(r, Record::kHttp2ConnectionWindowSizeIn);
  h2.header_list_bytes_max = size(r, Record::kHttp2MaxHeaderListSize);
  h2.fields_max = fields_max;
  h2.frames = {.settings_max = count(r, Record::kHttp2MaxSettingsFramesPerMinute),
               .ping_max = count(r, Record::kHttp2MaxPingFramesPerMinute),
               .priority_max = count(r, Record::kHttp2MaxPriorityFramesPerMinute),
               .rst_stream_max = count(r, Record::kHttp2MaxRstStreamFramesPerMinute),
               .continuation_max = count(r, Record::kHttp2MaxContinuationFramesPerMinute),
               .empty_max = count(r, Record::kHttp2MaxEmptyFramesPerMinute)};
  h2.keep_alive_max = state.session_settings.keep_alive_max;
  h2.request_head_max = state.session_settings.request_head_max;
  h2.client_inactivity_max = state.session_settings.client_inactivity_max;
  state.response_limits = {response_head_max, fields_max};
  state.origin_settings.idle_max = size(r, Record::kOriginConnectionsMax);
  state.origin_settings.idle_time_max = seconds(r, Record::kHttpKeepAliveNoActivityTimeoutOut);
  state.origin_settings.connect_max = seconds(r, Record::kHttpConnectAttemptsTimeout);
  state.connections_max = size(r, Record::kNetConnectionsMax);
  state.blocks.set_head_bytes_max(std::max(request_head_max, response_head_max));
}

diag::Base debug_base(const Records& r) {
  return {static_cast<diag::Mode>(r.integer(Record::kDiagsDebugEnabled)), std::string(r.string(Record::kDiagsDebugTags)),
          std::string(r.string(Record::kDiagsDebugClientIp)), std::string(r.string(Record::kDebugRules)),
          static_cast<std::uint32_t>(r.integer(Record::kDebugSample))};
}

diag::ThrottleConfig throttle_config(const Records& r) {
  return {std::chrono::milliseconds{r.integer(Record::kDiagsThrottlingInterval)},
          static_cast<std::uint32_t>(r.integer(Record::kDiagThrottlingBurst))};
}

diag::Route route_of(char letter) {
  switch (letter) {
    case 'O': return diag::kToStdout;
    case 'E': return diag::kToStderr;
    case 'B': return diag::kToBinary;
    case 'N': return diag::kToJson;
    case 'S': return diag::kToSyslog;
    case 'J': return diag::kToJournald;
    default: return diag::kToLogFile;
  }
}

diag::OutputConfig output_config(const Records& r, const std::filesystem::path& log_dir, diag::RouteBits also) {
  diag::OutputConfig config;
  auto route = [&](diag::Level level, Record record) {
    config.routes[static_cast<std::size_t>(level)] = routes(r.string(record));
  };
  route(diag::Level::kDebug, Record::kDiagsOutputDebug);
  route(diag::Level::kStatus, Record::kDiagsOutputStatus);
  route(diag::Level::kNote, Record::kDiagsOutputNote);
  route(diag::Level::kWarning, Record::kDiagsOutputWarning);
  route(diag::Level::kError, Record::kDiagsOutputError);
  route(diag::Level::kFatal, Record::kDiagsOutputFatal);
  route(diag::Level::kAlert, Record::kDiagsOutputAlert);
  route(diag::Level::kEmergency, Record::kDiagsOutputEmergency);
  config.show_location = static_cast<diag::ShowLocation>(r.integer(Record::kDiagsShowLocation));
  const std::filesystem::path log = log_dir / r.string(Record::kDiagsLogfileFilename);
  config.log_file = log.string();
  // Beside the log file, and not made unless they are wanted.
  config.also = also;
  diag::RouteBits wanted = also;
  for (diag::RouteBits to : config.routes) wanted = static_cast<diag::RouteBits>(wanted | to);
  if ((wanted & diag::kToBinary) != 0) config.binary_file = binary_log_of(log).string();
  if ((wanted & diag::kToJson) != 0) {
    const std::string_view json = r.string(Record::kDiagJsonFilename);
    config.json_file = is_stream(json) ? std::string(json) : (log_dir / json).string();
  }
  config.syslog_socket = r.string(Record::kDiagSyslogSocket);
  config.journald_socket = r.string(Record::kDiagJournaldSocket);
  config.stderr_to_journal = true;
  config.identifier = r.string(Record::kDiagIdentifier);
  config.facility = config::syslog_facility(r.string(Record::kSyslogFacility)).value_or(config.facility);
  config.roll = roll_settings(r);
  return config;
}

std::size_t worker_count(const Records& r) {
  if (!on(r, Record::kExecThreadAutoconfigEnabled)) return size(r, Record::kExecThreadLimit);
  return std::max(1u, std::thread::hardware_concurrency());
}

std::filesystem::path plugin_dir(const Records& r) { return plugin::plugin_folder(std::string(r.string(Record::kPluginPluginDir))); }

config::Problems check_plugins(const std::filesystem::path& config_dir, const Records& records) {
  auto lines = plugin::read_plugin_config(config_dir, plugin_dir(records));
  return lines ? config::Problems{} : std::move(lines.error());
}

}  // namespace telltale::server
