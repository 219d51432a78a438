// SPDX-License-Identifier: Apache-2.0
// The public side of output; see <telltale/diag/output.h>. The work is in output_control.h and backend.h.
#include <telltale/diag/output.h>
#include <telltale/diag/level.h>
#include <telltale/diag/throttle.h>

#include <errno.h>

#include <algorithm>

#include "client_names.h"
#include "file_sink.h"
#include "journal_sink.h"
#include "journal_stream.h"
#include "output_control.h"
#include "record_log_line.h"
#include "registry_names.h"
#include "ring_table.h"
#include "syslog_sink.h"
#include "tag_table.h"
#include "ticks.h"

namespace telltale::diag {

namespace {
OutputControl::Deadline in(std::chrono::milliseconds time) noexcept {
  return std::chrono::steady_clock::now() + time;
}
bool is_stream(std::string_view name) noexcept { return name == kStdout || name == kStderr; }
}  // namespace

tl::expected<void, std::string> configure_output(const OutputConfig& config) {
  OutputTargets targets;
  targets.routes = config.routes;
  targets.show_location = config.show_location;
  targets.log_path = config.log_file;
  targets.roll = config.roll;
  targets.binary_path = config.binary_file;
  auto routed = [&config](Route to) {
    auto leads = [to](RouteBits r) { return (r & to) != 0; };
    return leads(config.also) || std::any_of(config.routes.begin(), config.routes.end(), leads);
  };
  if (routed(kToLogFile) && config.log_file.empty()) {
    return tl::unexpected<std::string>("lines are routed to the log file, but there is none");
  }
  if (routed(kToBinary) && config.binary_file.empty()) {
    return tl::unexpected<std::string>("lines are routed to the binary log, but there is none");
  }
  if (routed(kToJson) && config.json_file.empty()) {
    return tl::unexpected<std::string>("lines are routed to the JSON lines, but there is no file for them");
  }
  if (!config.binary_file.empty() && config.binary_file == config.log_file) {
    return tl::unexpected("the log file and the binary log are both " + config.log_file);
  }
  if (!config.json_file.empty() && (config.json_file == config.log_file || config.json_file == config.binary_file)) {
    return tl::unexpected("the JSON lines and another log are both " + config.json_file);
  }
  const RollSettings& roll = config.roll;
  if (roll.interval.count() < 0 || roll.age_max.count() < 0) {
    return tl::unexpected<std::string>("a negative time for rolling the log file");
  }
  if (roll.space_bytes_max != 0 && roll.space_bytes_max < roll.size_bytes) {
    return tl::unexpected<std::string>("the log file would be larger than all its files together may be");
  }
  if (!config.log_file.empty()) {
    auto file = FileSink::open(config.log_file, config.roll);
    if (!file) return tl::unexpected(file.error());
    targets.log_file = std::move(*file);
  }
  targets.json_path = config.json_file;
  if (!config.json_file.empty() && !is_stream(config.json_file)) {
    auto file = FileSink::open(config.json_file, config.roll);
    if (!file) return tl::unexpected(file.error());
    targets.json_file = std::move(*file);
  }
  if (!config.binary_file.empty()) {
    static const RegistryNames& names = *new RegistryNames;  // immortal, as the backend is
    choose_ticks();
    auto file = BinarySink::open(config.binary_file, config.roll, names, log_start_of_this_process(first_sample().wall_ns));
    if (!file) return tl::unexpected(file.error());
    targets.binary_file = std::move(*file);
  }
  targets.facility = config.facility;
  targets.identifier = config.identifier.empty() ? program_invocation_short_name : config.identifier;
  const bool from_stderr = config.stderr_to_journal && routed(kToStderr) && stderr_is_journal_stream();
  if (from_stderr || routed(kToJournald)) {
    auto journal = JournalSink::open(config.journald_socket, targets.identifier, config.facility);
    if (!journal) return tl::unexpected(journal.error());
    targets.stderr_to_journal = from_stderr && (*journal)->is_there();
    targets.journald = std::move(*journal);
    targets.journald_path = config.journald_socket;
  }
  if (from_stderr && !targets.stderr_to_journal) {
    note("stderr is a stream to the journal, but {} takes nothing; lines stay on stderr", config.journald_socket);
  }
  if (routed(kToSyslog)) {
    auto syslog = SyslogSink::open(config.syslog_socket, targets.identifier, config.facility);
    if (!syslog) return tl::unexpected(syslog.error());
    targets.syslog = std::move(*syslog);
    targets.syslog_path = config.syslog_socket;
  }
  if (targets.syslog != nullptr || targets.journald != nullptr || !targets.json_path.empty()) ask_for_clients();
  OutputChange change;
  change.targets = std::move(targets);
  if (!output_control().submit(std::move(change), true)) {
    return tl::unexpected<std::string>("output cannot be configured now: its thread cannot be started, or a sink has blocked it");
  }
  return {};
}

void set_extra_sink(std::shared_ptr<Sink> sink) {
  OutputChange change;
  change.extra = ExtraSink{std::move(sink), nullptr};
  output_control().submit(std::move(change), false);
}

void set_extra_sink(std::shared_ptr<EntrySink> sink) {
  if (sink != nullptr) ask_for_clients();
  OutputChange change;
  change.extra = ExtraSink{nullptr, std::move(sink)};
  output_control().submit(std::move(change), false);
}

void set_extra_sink(std::nullptr_t) { set_extra_sink(std::shared_ptr<Sink>()); }

bool set_ring_bytes(std::size_t bytes) noexcept { return ring_table().set_ring_bytes(bytes); }

bool flush_output(std::chrono::milliseconds deadline) noexcept {
  return output_control().wait_written(published_positions(), in(deadline));
}

bool settle_output(std::chrono::milliseconds deadline) noexcept { return output_control().wait_applied(in(deadline)); }

bool stop_output(std::chrono::milliseconds deadline) noexcept {
  tell_held_back();
  return output_control().stop(in(deadline));
}

OutputStatus output_status() {
  OutputStatus status;
  const OutputCounters& counters = output_control().counters;
  status.lines_written = counters.lines_written.load(std::memory_order_relaxed);
  status.lines_lost = counters.lines_lost.load(std::memory_order_relaxed);
  status.sink_errors = counters.sink_errors.load(std::memory_order_relaxed);
  status.records_written = ring_table().records();
  status.records_dropped = ring_table().drops();
  status.threads = ring_table().owners();
  for (RingTable::Drops& drop : ring_table().drops_by_key()) {
    const Tag* tag = drop.key.tag == kOtherTags ? nullptr : tag_by_number(drop.key.tag);
    status.drops.push_back({std::move(drop.thread), drop.key.tag == kOtherTags ? "any" : std::string(level_word(drop.key.level)),
                            drop.key.tag == kOtherTags ? "others" : tag == nullptr ? "" : std::string(tag->name),
                            std::string(loss_reason(static_cast<std::uint8_t>(drop.key.reason))), drop.count});
  }
  status.sinks = output_control().sinks();
  status.sink_losses = output_control().sink_losses();
  return status;
}

}  // namespace telltale::diag
