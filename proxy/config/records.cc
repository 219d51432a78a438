// SPDX-License-Identifier: Apache-2.0
#include "config/records.h"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <cstdlib>

namespace telltale::config {
namespace {

std::size_t index(Record record) { return static_cast<std::size_t>(record); }

// The shown file of a problem with a value from `source`.
std::string shown_file(const Source& source) {
  return source.kind == Source::Kind::kFile ? source.file : to_string(source);
}

}  // namespace

struct Records::State {
  struct Entry {
    Value value;
    Source source;
  };
  DebugChecks check_tags;
  std::array<Entry, kRecordCount> entries;
};

std::string to_string(const Source& source) {
  switch (source.kind) {
    case Source::Kind::kDefault: return "default";
    case Source::Kind::kFile: return fmt::format("{}:{}", source.file, source.line);
    case Source::Kind::kCommandLine: return "--set";
    case Source::Kind::kTags: return "-T";
    case Source::Kind::kRuntime: return "runtime";
  }
  return {};
}

Records Records::defaults(DebugChecks check_tags) {
  auto state = std::make_shared<State>();
  state->check_tags = std::move(check_tags);
  for (const RecordInfo& record : record_table()) {
    // Defaults are part of the program and no check of a caller can refuse them; a test validates each.
    auto value = config::validate(record.id, record.default_text);
    state->entries[index(record.id)].value = std::move(value.value());
  }
  return Records(std::move(state));
}

std::int64_t Records::integer(Record record) const {
  if (info(record).kind != Kind::kInteger) {
    std::fprintf(stderr, "telltale: %s was read as an integer\n", name(record).data());
    std::abort();
  }
  return state_->entries[index(record)].value.integer;
}

std::string_view Records::string(Record record) const { return state_->entries[index(record)].value.text; }

const Source& Records::source(Record record) const { return state_->entries[index(record)].source; }

tl::expected<void, Problem> Records::validate(Record record, std::string_view text) const {
  auto value = config::validate(record, text, state_->check_tags);
  if (!value) return tl::unexpected(std::move(value.error()));
  return {};
}

tl::expected<Records, Problem> Records::with(Record record, std::string_view text, Source source) const {
  auto value = config::validate(record, text, state_->check_tags);
  if (value && source.kind == Source::Kind::kRuntime && info(record).apply == Apply::kRestart) {
    Problem problem;
    problem.what = fmt::format("{}: a change takes effect only after a restart", name(record));
    problem.expected = "a change of records.yaml and a restart";
    value = tl::unexpected(std::move(problem));
  }
  if (!value) {
    Problem problem = std::move(value.error());
    problem.file = shown_file(source);
    problem.line = source.line;
    problem.column = source.column;
    return tl::unexpected(std::move(problem));
  }
  auto changed = std::make_shared<State>(*state_);
  changed->entries[index(record)] = {std::move(*value), std::move(source)};
  return Records(std::move(changed));
}

Records Records::with_default(Record record) const {
  auto changed = std::make_shared<State>(*state_);
  changed->entries[index(record)] = {config::validate(record, info(record).default_text).value(), Source{}};
  return Records(std::move(changed));
}

}  // namespace telltale::config
