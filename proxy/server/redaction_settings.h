// SPDX-License-Identifier: Apache-2.0
#pragma once
// From records to what is masked: proxy.config.telltale.redact.*.
//
// **Thread safety:** apply_redaction() from one thread at a time; the rest pure, but for reading the file.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "config/records.h"

namespace telltale::server {

// A config::ListCheck, with the folder that relative names of files are below.
std::optional<std::string> check_redaction(config::Kind kind, std::string_view text, const std::filesystem::path& config_dir);

// Puts them in force, the file of secret values read anew. Errors: the file; nothing is changed then.
tl::expected<void, std::string> apply_redaction(const config::Records& records, const std::filesystem::path& config_dir);

}  // namespace telltale::server
