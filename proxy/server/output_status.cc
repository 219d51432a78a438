// SPDX-License-Identifier: Apache-2.0
#include "server/output_status.h"

#include <fmt/format.h>

#include <telltale/diag/output.h>

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

control::StatusSection drops(const diag::OutputStatus& status) {
  control::StatusSection section{"drops", {}};
  for (std::size_t i = 0; i < status.drops.size(); ++i) {
    const diag::DropState& drop = status.drops[i];
    section.items.push_back({fmt::format("{} {}", i, drop.thread),
                             fmt::format("{} of level {}{}{}: {}", drop.count, drop.level, drop.tag.empty() ? "" : ", tag ", drop.tag,
                                         drop.reason)});
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

}  // namespace

control::Status make_output_status() {
  diag::OutputStatus status = diag::output_status();
  control::Status sections{totals(status), threads(status)};
  if (!status.drops.empty()) sections.push_back(drops(status));
  sections.push_back(sinks(status));
  for (const diag::SinkState& sink : status.sinks) {
    if (sink.file) sections.push_back(file(*sink.file));
  }
  return sections;
}

}  // namespace telltale::server
