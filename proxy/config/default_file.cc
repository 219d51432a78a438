// SPDX-License-Identifier: Apache-2.0
#include "config/default_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include "config/record_table.h"

namespace telltale::config {
namespace {

std::vector<std::string_view> parts_of(std::string_view name) {
  name.remove_prefix(std::string_view("proxy.config.").size());
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t dot = name.find('.');
    parts.push_back(name.substr(0, dot));
    if (dot == std::string_view::npos) return parts;
    name.remove_prefix(dot + 1);
  }
}

}  // namespace

std::string default_records_yaml() {
  std::vector<const RecordInfo*> records;
  for (const RecordInfo& record : record_table())
    records.push_back(&record);
  std::sort(records.begin(), records.end(),
            [](const RecordInfo* a, const RecordInfo* b) { return parts_of(a->name) < parts_of(b->name); });

  std::string out =
      "# SPDX-License-Identifier: Apache-2.0\n"
      "#\n"
      "# Every record with its default. A file of your own names only what differs; names may be nested, as\n"
      "# here, or dotted. The line above a record says what it takes, and whether a change is in force with\n"
      "# a reload (live) or after a restart. Generated from proxy/config/record_list.h; a test keeps it so.\n"
      "records:\n";
  std::vector<std::string_view> open;  // the sections the line before is in
  for (const RecordInfo* record : records) {
    const auto parts = parts_of(record->name);
    std::size_t shared = 0;
    while (shared < open.size() && shared + 1 < parts.size() && open[shared] == parts[shared])
      ++shared;
    open.assign(parts.begin(), parts.end() - 1);
    for (std::size_t depth = shared; depth < open.size(); ++depth)
      fmt::format_to(std::back_inserter(out), "{:{}}{}:\n", "", 2 * (depth + 1), open[depth]);
    const std::size_t indent = 2 * parts.size();
    const bool quotes = record->kind != Kind::kInteger;
    fmt::format_to(std::back_inserter(out), "{:{}}# {}\n", "", indent, record->description);
    fmt::format_to(std::back_inserter(out), "{:{}}# {} ({})\n", "", indent, expectation(record->id),
                   record->apply == Apply::kLive ? "live" : "restart");
    fmt::format_to(std::back_inserter(out), "{:{}}{}: {}{}{}\n", "", indent, parts.back(), quotes ? "\"" : "",
                   record->default_text, quotes ? "\"" : "");
  }
  return out;
}

}  // namespace telltale::config
