// SPDX-License-Identifier: Apache-2.0
//
// Loads a configuration folder (records.yaml, remap.config, plugin.config) and what the command line says
// on top of it. It gives all of it or every problem of every file, in one run; a daemon that is asked to
// reload and gets problems keeps what it has.
//
// records.yaml may be missing (every record at its default, and a note) if the folder is there. remap.config may be
// empty, but a folder without one is taken for the wrong folder. plugin.config may be missing.
// The table of remap rules is passed through: its reader is handed in, remap/ stands above config/. So is the check
// of plugin.config.
//
// **Thread safety:** thread-safe.
// **Source:** the folder's layout is Apache Traffic Server's.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "config/problem.h"
#include "config/records.h"
#include "config/records_file.h"

namespace telltale::remap {
class RemapTable;
}

namespace telltale::config {

using RemapTablePtr = std::shared_ptr<const remap::RemapTable>;  // shared by the workers and a reload
// text, name of the file -> table. The one there is: remap::parse_remap_table.
using RemapReader =
    std::function<tl::expected<RemapTablePtr, Problems>(std::string text, const std::string& file_name)>;

// The configuration folder, the records in force -> what is wrong with its plugin.config.
using PluginCheck = std::function<Problems(const std::filesystem::path& folder, const Records& records)>;

struct FolderOptions {
  DebugChecks check_tags;
  RemapReader read_remap;        // REQUIRES: set
  PluginCheck check_plugins;     // none: plugin.config is not looked at
  std::vector<std::string> set;  // --set RECORD=VALUE in the order given; a later one of the same record wins
  std::optional<std::string> tags;  // -T TAGS: mode 1 and these tags, after all --set
};

struct Folder {
  RecordsFile file;     // what records.yaml says; keep it for reload()
  Records records;      // defaults, then the file, then --set, then -T
  RemapTablePtr remap;  // never null
  std::vector<std::string> notes = {};  // sentences: what is taken, but may not be meant
};

// Errors: never empty; by file, within a file by line.
tl::expected<Folder, Problems> load_folder(const std::filesystem::path& folder, const FolderOptions& options);

}  // namespace telltale::config
