// SPDX-License-Identifier: Apache-2.0
#include "config/reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

namespace telltale::config {

std::string_view type_words(Kind kind) {
  switch (kind) {
    case Kind::kInteger: return "integer";
    case Kind::kServerPorts: return "ports";
    case Kind::kOutputLetters: return "output letters";
    case Kind::kAddressSet: return "addresses";
    case Kind::kTagPattern:
    case Kind::kTagsOrNone: return "tag pattern";
    case Kind::kDebugRules: return "debug rules";
    case Kind::kFileName:
    case Kind::kFileOrStream: return "file name";
    case Kind::kSocketPath: return "path";
    case Kind::kIdentifier: return "name";
    case Kind::kFacility: return "syslog facility";
    case Kind::kFraction: return "decimal number, 0 to 1";
    case Kind::kFolder: return "folder";
    case Kind::kFieldNames: return "names of fields";
    case Kind::kNameFragments: return "parts of names of fields";
    case Kind::kQueryKeys: return "query keys";
    case Kind::kPathGlobs: return "paths";
    case Kind::kSecretsFile: return "file of secret values";
  }
  return "";
}

std::string_view unit_words(Unit unit) {
  switch (unit) {
    case Unit::kNone:
    case Unit::kSwitch:
    case Unit::kNumber: return "";
    case Unit::kWorkers: return "workers";
    case Unit::kFields: return "fields";
    case Unit::kConnections: return "connections";
    case Unit::kStreams: return "streams";
    case Unit::kFrames: return "frames";
    case Unit::kSeconds: return "seconds";
    case Unit::kMegabytes: return "megabytes";
    case Unit::kMilliseconds: return "milliseconds";
    case Unit::kBytes:
    case Unit::kBytesPowerOfTwo: return "bytes";
  }
  return "";
}

std::string_view change_words(Apply apply) {
  return apply == Apply::kLive ? "in force at once" : "in force after a restart";
}

std::string range_words(Record record) {
  const RecordInfo& r = info(record);
  if (r.kind != Kind::kInteger) return expectation(record);
  if (r.unit == Unit::kSwitch) return "0 or 1";
  return fmt::format("{}{} to {}", r.unit == Unit::kBytesPowerOfTwo ? "a power of two from " : "", r.minimum,
                     r.maximum);
}

std::string record_reference() {
  std::vector<const RecordInfo*> records;
  for (const RecordInfo& record : record_table())
    records.push_back(&record);
  std::sort(records.begin(), records.end(),
            [](const RecordInfo* a, const RecordInfo* b) { return a->name < b->name; });

  std::string out;
  std::string_view section;
  for (const RecordInfo* record : records) {
    std::string_view first = record->name.substr(std::string_view("proxy.config.").size());
    first = first.substr(0, first.find('.'));
    if (first != section) fmt::format_to(std::back_inserter(out), "\n## {}\n", first);
    section = first;
    const std::string_view unit = unit_words(record->unit);
    fmt::format_to(std::back_inserter(out), "\n### `{}`\n\n{}\n\n", record->name, record->description);
    fmt::format_to(std::back_inserter(out), "- {}{}{}: {}\n", type_words(record->kind),
                   unit.empty() ? "" : ", ", unit, range_words(record->id));
    fmt::format_to(std::back_inserter(out), "- default: {}\n",
                   record->default_text.empty() ? "none (`\"\"`)" : fmt::format("`{}`", record->default_text));
    fmt::format_to(std::back_inserter(out), "- a change is {}\n",
                   change_words(record->apply));
  }
  return out;
}

}  // namespace telltale::config
