// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads plugin.config: one plugin a line, `header_note.so X-Note hello`, in the order they are loaded.
//
// A word ends at white space or '#'; "..." holds both. '#' begins a comment. A plugin's name is a path, relative to
// the folder of plugins unless it begins with '/'.
//
// **Thread safety:** thread-safe. **Source:** plugin.config of Apache Traffic Server; its $RECORD arguments are not
// offered.

#include <filesystem>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "config/problem.h"

namespace telltale::plugin {

struct PluginLine {
  int line;                     // of the file
  std::string path;             // absolute
  std::string name;             // "header_note": what lines carry
  std::vector<std::string> arguments;
  friend bool operator==(const PluginLine&, const PluginLine&) = default;
};

inline constexpr std::size_t kPluginsMax = 64;
inline constexpr std::size_t kArgumentsMax = 64;  // of one plugin

// Errors: everything that is wrong, a plugin that is no file included; never empty.
tl::expected<std::vector<PluginLine>, config::Problems> parse_plugin_config(std::string text, const std::string& file_name,
                                                                            const std::filesystem::path& plugin_dir);

// The same for the file of a configuration folder; none at all if there is no such file.
tl::expected<std::vector<PluginLine>, config::Problems> read_plugin_config(const std::filesystem::path& config_dir,
                                                                           const std::filesystem::path& plugin_dir);

// "" stands for the folder `plugins` beside that of the running program.
std::filesystem::path plugin_folder(const std::string& record);

}  // namespace telltale::plugin
