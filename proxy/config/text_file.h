// SPDX-License-Identifier: Apache-2.0
//
// Reads one configuration file into memory and makes sure that it is text: UTF-8 without control
// characters. Never waits (a pipe of that name is refused, not read) and never takes more than a limit.
//
// **Thread safety:** thread-safe.
// **Source:** RFC 3629 (UTF-8).
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "config/problem.h"

namespace telltale::config {

inline constexpr std::size_t kFileBytesMax = 1024 * 1024;

// The file's content without a byte order mark; nothing if no file of that name exists.
// Errors: it cannot be opened or read (with the system's reason), is no regular file, or is longer than
// kFileBytesMax. `shown_name` is what the problem calls the file.
tl::expected<std::optional<std::string>, Problem> read_text_file(const std::filesystem::path& path,
                                                                 const std::string& shown_name);

// Replaces every byte that does not belong in a text file with '?', one problem a line, so that a reader
// can go on and find what else is wrong. Tabs and line ends (LF or CR LF) belong.
void clean_text(std::string& text, ProblemList& problems);

}  // namespace telltale::config
