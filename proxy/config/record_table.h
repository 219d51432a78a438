// SPDX-License-Identifier: Apache-2.0
//
// The table of records: id, full name, type, default, range, unit, when a change takes effect, and a
// sentence on what it does. Everything that lists records reads this table: the file reader, the control
// program, configs/default. It holds no values; those are in records.h.
//
// **Thread safety:** immutable.
// **Source:** record_list.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/problem.h"
#include "config/record_list.h"

namespace telltale::config {

enum class Record : std::uint8_t {
#define TELLTALE_ID(id, ...) id,
  TELLTALE_RECORDS(TELLTALE_ID, TELLTALE_ID)
#undef TELLTALE_ID
};

#define TELLTALE_ONE(...) +1
inline constexpr std::size_t kRecordCount = 0 TELLTALE_RECORDS(TELLTALE_ONE, TELLTALE_ONE);
#undef TELLTALE_ONE

enum class Kind : std::uint8_t {
  kInteger,
  kServerPorts,    // server_ports.h
  kOutputLetters,  // output_letters.h, each at most once; empty = nowhere
  kAddressSet,     // address_set.h; empty = nobody
  kTagPattern,     // the pattern language is lib/diag's, see TagPatternCheck in validate.h
  kTagsOrNone,     // the same; empty = none
  kDebugRules,     // lib/diag's too; empty = none
  kFileName,       // one file name without a folder
  kFileOrStream,   // the same, or stdout, stderr
  kSocketPath,     // of a socket in the file system, absolute
  kIdentifier,     // what syslog takes for a program's name
  kFacility,       // of syslog: syslog_facility.h
  kFraction,       // 0 to 1, decimal: "0.10"
  kFolder,         // a path; empty = the default that the description names
  kFieldNames,     // of HTTP, separated by commas or blanks; these lists' checks are given, see ListCheck
  kNameFragments,  // parts of such
  kQueryKeys,      // of URLs
  kPathGlobs,      // of URLs
  kSecretsFile,    // a path; empty = none
};

enum class Unit : std::uint8_t {
  kNone,
  kSwitch,
  kNumber,
  kWorkers,
  kFields,
  kConnections,
  kStreams,
  kFrames,
  kSeconds,
  kMilliseconds,
  kBytes,
  kMegabytes,  // of 1,000,000 bytes
  kBytesPowerOfTwo
};

enum class Apply : std::uint8_t { kLive, kRestart };

struct RecordInfo {
  Record id;
  std::string_view name;  // "proxy.config.…"
  Kind kind;
  Unit unit;             // kNone for texts
  std::int64_t minimum;  // of integers, both ends included
  std::int64_t maximum;
  std::string_view default_text;
  Apply apply;
  std::string_view description;  // one sentence
};

// All records in the order of their ids. Cost: none.
std::span<const RecordInfo, kRecordCount> record_table();
const RecordInfo& info(Record record);
inline std::string_view name(Record record) { return info(record).name; }

// The record of that full name. Cost: walks the table; for configuration and control only.
std::optional<Record> find_record(std::string_view full_name);

// True if a record's name continues `full_name` with a dot: "proxy.config.diags".
bool is_section(std::string_view full_name);

// What a value of this record must be: "seconds, 1 to 3600", "0 or 1", "letters of O (stdout), ...".
std::string expectation(Record record);

// Offered names that resemble `full_name`, nearest first (hint/near_names.h).
std::vector<std::string> nearest_names(std::string_view full_name);

// The problem of a name that is not in the table; no file or place. Names no value.
Problem not_offered(std::string_view full_name);

}  // namespace telltale::config
