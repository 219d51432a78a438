// SPDX-License-Identifier: Apache-2.0
#include "config/record_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "config/output_letters.h"
#include "config/reference.h"
#include "config/server_ports.h"
#include "hint/near_names.h"

namespace telltale::config {
namespace {

constexpr std::array<RecordInfo, kRecordCount> kTable{{
#define TELLTALE_INTEGER(id, name, unit, minimum, maximum, default_value, apply, description) \
  {Record::id, name, Kind::kInteger, Unit::unit, minimum, maximum, #default_value, Apply::apply, description},
#define TELLTALE_TEXT(id, name, kind, default_value, apply, description) \
  {Record::id, name, Kind::kind, Unit::kNone, 0, 0, default_value, Apply::apply, description},
    TELLTALE_RECORDS(TELLTALE_INTEGER, TELLTALE_TEXT)
#undef TELLTALE_INTEGER
#undef TELLTALE_TEXT
}};

constexpr std::string_view kPrefix = "proxy.config.";
constexpr std::size_t kNameBytesMax = 128;

std::string_view without_prefix(std::string_view full_name) {
  if (full_name.starts_with(kPrefix)) full_name.remove_prefix(kPrefix.size());
  return full_name;
}

}  // namespace

std::span<const RecordInfo, kRecordCount> record_table() { return kTable; }

const RecordInfo& info(Record record) { return kTable[static_cast<std::size_t>(record)]; }

std::string output_letters_in_words() {
  std::string words;
  for (std::size_t i = 0; i < kOutputLetters.size(); ++i) {
    const char* before = i == 0 ? "" : i + 1 == kOutputLetters.size() ? " and " : ", ";
    words += fmt::format("{}{} ({})", before, kOutputLetters[i].letter, kOutputLetters[i].words);
  }
  return words;
}

std::optional<Record> find_record(std::string_view full_name) {
  for (const RecordInfo& record : kTable) {
    if (record.name == full_name) return record.id;
  }
  return std::nullopt;
}

bool is_section(std::string_view full_name) {
  return std::any_of(kTable.begin(), kTable.end(), [&](const RecordInfo& record) {
    return record.name.size() > full_name.size() && record.name.starts_with(full_name) &&
           record.name[full_name.size()] == '.';
  });
}

std::string expectation(Record record) {
  const RecordInfo& r = info(record);
  switch (r.kind) {
    case Kind::kInteger:
      if (r.unit == Unit::kSwitch) return "0 or 1";
      if (r.unit == Unit::kBytesPowerOfTwo)
        return fmt::format("bytes, a power of two from {} to {}", r.minimum, r.maximum);
      return fmt::format("{}{}{} to {}", unit_words(r.unit), unit_words(r.unit).empty() ? "" : ", ", r.minimum, r.maximum);
    case Kind::kServerPorts: return std::string(kServerPortsForm);
    case Kind::kOutputLetters: return fmt::format("letters of {}, or none", output_letters_in_words());
    case Kind::kAddressSet: return "addresses or ADDRESS/BITS, separated by commas, or none";
    case Kind::kTagPattern: return "a pattern for the start of tags, such as http|dns";
    case Kind::kTagsOrNone: return "a pattern for the start of tags, such as http|dns, or none";
    case Kind::kDebugRules: return "[-]KEY=VALUE ... with the keys tag, file, function, line, module and text; ';' between rules";
    case Kind::kFileName: return "a file name without a folder";
    case Kind::kFileOrStream: return "a file name without a folder, stdout or stderr";
    case Kind::kSocketPath: return "an absolute path of at most 107 bytes";
    case Kind::kIdentifier: return "1 to 48 printable ASCII characters without spaces";
    case Kind::kFacility: return "LOG_DAEMON, LOG_USER, or LOG_LOCAL0 to LOG_LOCAL7";
    case Kind::kFraction: return "a decimal number from 0 to 1, such as 0.10";
    case Kind::kFolder: return "a folder, or none for the default";
    case Kind::kFieldNames: return "names of fields, with commas between them, or none";
    case Kind::kNameFragments: return "parts of names of fields, each of 3 letters or more, with commas between them, or none";
    case Kind::kQueryKeys: return "query keys, with commas between them, or none";
    case Kind::kPathGlobs: return "paths, such as /login or */token/*, with commas between them, or none";
    case Kind::kSecretsFile: return "a file with a value of at least 5 bytes on each line, or none";
  }
  return {};
}

std::vector<std::string> nearest_names(std::string_view full_name) {
  std::vector<std::string> offered;
  for (const RecordInfo& record : kTable)
    offered.emplace_back(without_prefix(record.name));
  std::vector<std::string> names = hint::near_names(without_prefix(full_name), offered);
  for (std::string& name : names)
    name.insert(0, kPrefix);
  return names;
}

Problem not_offered(std::string_view full_name) {
  Problem problem;
  // A name is shown bare where it looks like one, quoted where it could carry anything else.
  const bool plain =
      !full_name.empty() && full_name.size() <= kNameBytesMax &&
      full_name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") ==
          std::string_view::npos;
  const std::string shown = plain ? std::string(full_name) : quote(full_name);
  if (full_name.starts_with(kPrefix)) {
    problem.what = shown + ": this record is not offered by Telltale";
  } else {
    problem.what = shown + ": not a record name";
    problem.expected = "a name that starts with proxy.config.";
  }
  if (const auto names = nearest_names(full_name); !names.empty()) {
    problem.what += "; " + hint::did_you_mean(names);
    problem.expected.clear();
  }
  return problem;
}

}  // namespace telltale::config
