// SPDX-License-Identifier: Apache-2.0
#include "config/reload.h"

namespace telltale::config {
namespace {

bool same_text(const std::optional<FileValue>& a, const std::optional<FileValue>& b) {
  return a.has_value() == b.has_value() && (!a || a->text == b->text);
}

}  // namespace

tl::expected<Reload, Problems> reload(const RecordsFile& before, const Records& running,
                                      const RecordsFile& after) {
  Reload result{running, {}, {}};
  Problems problems;
  const auto take = [&](tl::expected<Records, Problem> next) {
    if (next) {
      result.running = std::move(*next);
    } else {
      problems.push_back(std::move(next.error()));
    }
  };
  for (const RecordInfo& record : record_table()) {
    const auto& said = after[record.id];
    const std::string_view wanted = said ? std::string_view(said->text) : record.default_text;
    const Source source = said ? Source::from_file(after.name(), said->line, said->column) : Source{};
    const bool differs = wanted != running.string(record.id);
    const Source::Kind from = running.source(record.id).kind;

    if (record.apply == Apply::kRestart && differs) {
      if (from == Source::Kind::kDefault || from == Source::Kind::kFile)
        result.needs_restart.push_back(record.id);
      continue;
    }
    if (same_text(before[record.id], said)) {
      // The same text on another line: only the shown place moves.
      if (said && from == Source::Kind::kFile) take(result.running.with(record.id, said->text, source));
      continue;
    }
    take(said ? result.running.with(record.id, said->text, source) : result.running.with_default(record.id));
    if (differs) result.changed.push_back(record.id);
  }
  if (!problems.empty()) return tl::unexpected(std::move(problems));
  return result;
}

}  // namespace telltale::config
