// SPDX-License-Identifier: Apache-2.0
#include "config/agreement.h"

#include <fmt/format.h>

namespace telltale::config {

Problems check_agreement(const Records& records) {
  constexpr Record kSize = Record::kDiagsLogfileRollingSizeMb, kSpace = Record::kDiagLogfileMaxSpaceMb;
  const std::int64_t size = records.integer(kSize), space = records.integer(kSpace);
  const bool by_size = (records.integer(Record::kDiagsLogfileRollingEnabled) & 2) != 0;
  if (!by_size || space == 0 || space >= size) return {};
  // Whichever of the two was changed last is the one to look at; the file's place is the more useful one.
  const Record shown = records.source(kSize).kind == Source::Kind::kDefault ? kSpace : kSize;
  const Source& source = records.source(shown);
  const std::string place = to_string(source);
  Problem problem;
  problem.file = source.kind == Source::Kind::kFile ? source.file : place == "default" || place == "runtime" ? "" : place;
  problem.line = source.line;
  problem.column = source.column;
  problem.what = fmt::format("{}: \"{}\" is more than all files of diags.log may take, {} \"{}\"", name(kSize), size, name(kSpace), space);
  problem.expected = "the limit of space to be 0 or the larger one";
  return {problem};
}

}  // namespace telltale::config
