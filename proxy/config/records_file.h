// SPDX-License-Identifier: Apache-2.0
//
// Reads records.yaml: the records it sets, each with its text and place. Not a set of values (records.h);
// what the file said is kept apart, since a reload looks at what changed in the file.
//
// Below the top key `records:` names are nested or dotted or both, with or without `proxy.config.`:
//
//   records:
//     http: {server_ports: "8080"}
//     http.connect_attempts_timeout: 10
//
// A scalar is taken as its text: `no`, `1e3` and `2026-01-01` are texts, and a number may be quoted. A
// record without a value (nothing, ~ or null) is a mistake; a section without one is not, its records may
// be commented out. The same record twice is a mistake that names both lines.
//
// **Thread safety:** immutable values.
// **Source:** the form of records.yaml in Apache Traffic Server 10.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "config/problem.h"
#include "config/record_table.h"
#include "config/records.h"
#include "config/validate.h"

namespace telltale::config {

struct FileValue {
  std::string text;
  int line;  // from 1
  int column;
};

class RecordsFile {
 public:
  // A file that sets nothing.
  explicit RecordsFile(std::string name) : name_(std::move(name)) {}

  // What the file says of this record, or nothing.
  const std::optional<FileValue>& operator[](Record record) const {
    return values_[static_cast<std::size_t>(record)];
  }

  void set(Record record, FileValue value) { values_[static_cast<std::size_t>(record)] = std::move(value); }
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  std::array<std::optional<FileValue>, kRecordCount> values_;
};

// Errors: everything that is wrong with the text, in the order of its lines; never empty.
tl::expected<RecordsFile, Problems> parse_records_file(std::string text, const std::string& file_name,
                                                       const DebugChecks& check_tags = {});

// The values of the file put over those of `records`.
tl::expected<Records, Problems> apply(const RecordsFile& file, Records records);

}  // namespace telltale::config
