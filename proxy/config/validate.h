// SPDX-License-Identifier: Apache-2.0
//
// Whether a text may be the value of a record, and its number if the record is an integer: the one place
// that decides, for records.yaml, --set, -T, ttctl and reload alike.
//
// Integers are plain decimal: an optional minus and digits without a leading zero. 010, 0x10, 1_000, 10M,
// 1.5, 1e3, +5 and " 10" are refused, since readers disagree on what they mean.
//
// **Thread safety:** thread-safe, if the check of tag patterns is.
// **Source:** docs/config_reference, the part on values.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <tl/expected.hpp>

#include "config/problem.h"
#include "config/record_table.h"

namespace telltale::config {

// Says what is wrong with a tag pattern (a sentence, without the record's name), or nothing. Tag patterns
// belong to lib/diag; whoever loads a configuration hands the check in. Without one, only the empty
// pattern is refused here.
using TagPatternCheck = std::function<std::optional<std::string>(std::string_view)>;

// The same for the lists of the redaction, which belong to proxy/http, and the file of secret values. Names no value
// of that file.
using ListCheck = std::function<std::optional<std::string>(Kind, std::string_view)>;

// All of them: of lib/diag's languages, patterns of tags and rules, and of lists.
struct DebugChecks {
  DebugChecks(TagPatternCheck of_tags = {}, TagPatternCheck of_rules = {}, ListCheck of_lists = {})
      : tags(std::move(of_tags)), rules(std::move(of_rules)), lists(std::move(of_lists)) {}
  TagPatternCheck tags;
  TagPatternCheck rules;
  ListCheck lists;
};

struct Value {
  std::int64_t integer = 0;  // of integers; 0 for texts
  std::string text;          // as written
};

// Errors: a problem without file or place; `what` begins with the record's name.
tl::expected<Value, Problem> validate(Record record, std::string_view text,
                                      const DebugChecks& checks = {});

}  // namespace telltale::config
