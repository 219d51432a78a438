// SPDX-License-Identifier: Apache-2.0
//
// A set of record values, all of them valid, each with where it came from. It never changes: a change
// makes another set, and whoever holds the old one goes on reading it undisturbed.
//
// **Thread safety:** immutable; copies share their values.
// **Source:** record_table.h for what there is.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "config/problem.h"
#include "config/record_table.h"
#include "config/validate.h"

namespace telltale::config {

// Where a value came from.
struct Source {
  enum class Kind : std::uint8_t {
    kDefault,
    kFile,         // records.yaml
    kCommandLine,  // --set
    kTags,         // -T
    kRuntime,      // set in the running process
  };
  Kind kind = Kind::kDefault;
  std::string file;  // of kFile
  int line = 0;      // of kFile, from 1
  int column = 0;

  static Source from_file(std::string file, int line, int column) {
    return {Kind::kFile, std::move(file), line, column};
  }
  static Source command_line() { return {Kind::kCommandLine, {}, 0, 0}; }
  static Source tags_option() { return {Kind::kTags, {}, 0, 0}; }
  static Source runtime() { return {Kind::kRuntime, {}, 0, 0}; }
};

// "default", "records.yaml:12", "--set", "-T", "runtime".
std::string to_string(const Source& source);

class Records {
 public:
  // Every record at its default. The check is kept and used by every set made from this one.
  static Records defaults(DebugChecks check_tags = {});

  // REQUIRES: the record is an integer. Cost: two loads; no lock.
  std::int64_t integer(Record record) const;
  // The value as written, integers too; lives as long as any set that shares it. Cost: as above.
  std::string_view string(Record record) const;
  const Source& source(Record record) const;

  // Whether `text` may be the value of `record`. Errors: as validate() in validate.h.
  tl::expected<void, Problem> validate(Record record, std::string_view text) const;

  // This set with one value changed. Errors: those of validate(), with the file and place of `source`; a
  // record that needs a restart cannot be set at run time, since the value would not be in force.
  // Cost: copies the values, some kilobytes.
  [[nodiscard]] tl::expected<Records, Problem> with(Record record, std::string_view text,
                                                    Source source) const;

  // This set with one record at its default.
  [[nodiscard]] Records with_default(Record record) const;

 private:
  struct State;
  explicit Records(std::shared_ptr<const State> state) : state_(std::move(state)) {}

  // Shared by copies on several threads, and by nothing else; the last reader frees it.
  std::shared_ptr<const State> state_;
};

}  // namespace telltale::config
