// SPDX-License-Identifier: Apache-2.0
#include "server/output_status.h"

#include <fmt/format.h>

#include <telltale/diag/output.h>
#include <telltale/diag/recorder.h>

namespace telltale::server {
namespace {

control::StatusSection totals(const diag::OutputStatus& status) {
  return {"output",
          {{"records written", status.records_written},
           {"records dropped", status.records_dropped},
           {"lines written", status.lines_written},
           {"lines lost by sinks", status.lines_lost},
           {"sink errors", status.sink_errors}}};
}

control::StatusSection threads(const diag::OutputStatus& status) {
  control::StatusSection section{"threads", {}};
  for (std::size_t i = 0; i < status.threads.size(); ++i) {
    const diag::ThreadOutput& thread = status.threads[i];
    section.items.push_back({fmt::format("{} {}", i, thread.thread),
                             fmt::format("{} written, {} dropped", thread.written, thread.dropped)});
  }
  return section;
}

control::StatusSection losses(std::string name, const std::vector<diag::DropState>& losses) {
  control::StatusSection section{std::move(name), {}};
  for (std::size_t i = 0; i < losses.size(); ++i) {
    const diag::DropState& loss = losses[i];
    section.items.push_back({fmt::format("{} {}", i, loss.thread),
                             fmt::format("{} of level {}{}{}: {}", loss.count, loss.level, loss.tag.empty() ? "" : ", tag ", loss.tag,
                                         loss.reason)});
  }
  return section;
}

control::StatusSection sinks(const diag::OutputStatus& status) {
  control::StatusSection section{"sinks", {}};
  for (const diag::SinkState& sink : status.sinks) {
    std::string value = fmt::format("{} lines, {} lost", sink.lines, sink.lost);
    if (sink.errors != 0) {
      value += fmt::format(" in {} writes, {}: {}", sink.errors, sink.failing ? "failing now" : "the last time", sink.last_error);
    }
    for (const diag::SinkCount& count : sink.counts) value += fmt::format(", {} {}", count.count, count.name);
    section.items.push_back({sink.name, std::move(value)});
  }
  return section;
}

control::StatusSection file(const diag::FileState& file) {
  control::StatusSection section{fmt::format("file {}", file.path),
                                 {{"open", file.open},
                                  {"bytes", file.bytes},
                                  {"is rolled", file.not_rolled.empty() ? "yes" : "no: " + file.not_rolled},
                                  {"rolls", file.rolls},
                                  {"rolls that failed", file.roll_errors},
                                  {"times opened anew", file.reopens},
                                  {"rolled files", file.rolled_files},
                                  {"bytes of rolled files", file.rolled_bytes},
                                  {"rolled files compressed", file.compressed},
                                  {"compressions that failed", file.compress_errors},
                                  {"compressing now", file.compressing},
                                  {"rolled files deleted", file.deleted}}};
  return section;
}

control::StatusSection recorder(const config::Records& records) {
  using config::Record;
  auto text = [&records](Record record) {
    return fmt::format("\"{}\" ({})", records.string(record), config::to_string(records.source(record)));
  };
  const diag::RecorderState state = diag::recorder_state();
  control::StatusSection section{"recorder", {{"enabled", records.integer(Record::kRecorderEnabled) != 0},
                                              {"on", !state.directory.empty()}}};
  if (!state.directory.empty()) section.items.push_back({"folder", state.directory});
  section.items.insert(section.items.end(), {{"armed tags", text(Record::kRecorderTags)},
                                             {"rings in files", static_cast<std::uint64_t>(state.rings)},
                                             {"of these, of armed tags", static_cast<std::uint64_t>(state.recorder_rings)},
                                             {"rings in private memory", static_cast<std::uint64_t>(state.private_rings)},
                                             {"bytes of files", state.bytes},
                                             {"records of armed tags", state.records},
                                             {"of these, dropped", state.dropped}});
  return section;
}

}  // namespace

control::Status make_output_status(const config::Records& records) {
  diag::OutputStatus status = diag::output_status();
  control::Status sections{totals(status), threads(status)};
  if (!status.drops.empty()) sections.push_back(losses("drops", status.drops));
  sections.push_back(sinks(status));
  if (!status.sink_losses.empty()) sections.push_back(losses("lost by sinks", status.sink_losses));
  for (const diag::SinkState& sink : status.sinks) {
    if (sink.file) sections.push_back(file(*sink.file));
  }
  sections.push_back(recorder(records));
  return sections;
}

}  // namespace telltale::server
