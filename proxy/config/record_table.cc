// SPDX-License-Identifier: Apache-2.0
#include "config/record_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "config/server_ports.h"

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

std::string_view unit_words(Unit unit) {
  switch (unit) {
    case Unit::kNone:
    case Unit::kSwitch:
    case Unit::kNumber: return "";
    case Unit::kWorkers: return "workers, ";
    case Unit::kFields: return "fields, ";
    case Unit::kConnections: return "connections, ";
    case Unit::kSeconds: return "seconds, ";
    case Unit::kBytes:
    case Unit::kBytesPowerOfTwo: return "bytes, ";
  }
  return "";
}

// Levenshtein's distance, one row at a time.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({row[j - 1] + 1, above + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

std::string_view without_prefix(std::string_view full_name) {
  if (full_name.starts_with(kPrefix)) full_name.remove_prefix(kPrefix.size());
  return full_name;
}

std::string_view last_part(std::string_view full_name) { return full_name.substr(full_name.rfind('.') + 1); }

}  // namespace

std::span<const RecordInfo, kRecordCount> record_table() { return kTable; }

const RecordInfo& info(Record record) { return kTable[static_cast<std::size_t>(record)]; }

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
      return fmt::format("{}{} to {}", unit_words(r.unit), r.minimum, r.maximum);
    case Kind::kServerPorts: return std::string(kServerPortsForm);
    case Kind::kOutputLetters: return "letters of O (stdout), E (stderr) and L (diags.log), or none";
    case Kind::kAddressSet: return "addresses or ADDRESS/BITS, separated by commas, or none";
    case Kind::kTagPattern: return "a pattern for the start of tags, such as http|dns";
    case Kind::kFileName: return "a file name without a folder";
  }
  return {};
}

std::vector<std::string_view> nearest_names(std::string_view full_name) {
  if (full_name.size() > kNameBytesMax) return {};
  const std::string_view wanted = without_prefix(full_name);
  std::vector<std::pair<std::size_t, std::string_view>> found;
  for (const RecordInfo& record : kTable) {
    const std::string_view offered = without_prefix(record.name);
    // Close in spelling, or the same last word in another section.
    const std::size_t steps = distance(wanted, offered);
    if (steps <= std::max<std::size_t>(2, wanted.size() / 6)) {
      found.emplace_back(steps, record.name);
    } else if (last_part(wanted) == last_part(offered) && last_part(wanted) != "enabled" &&
               last_part(wanted) != "size") {
      found.emplace_back(1000 + steps, record.name);
    }
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < found.size() && i < 3; ++i)
    names.push_back(found[i].second);
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
  const auto names = nearest_names(full_name);
  if (!names.empty()) problem.expected = fmt::format("perhaps {}", fmt::join(names, " or "));
  return problem;
}

}  // namespace telltale::config
