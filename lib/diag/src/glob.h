// SPDX-License-Identifier: Apache-2.0
#pragma once
// Globs of rules: '*' is any text, also none and also with '/'; '?' is one byte; '\' takes the next byte as
// it is. The whole subject has to match.
//
// **Thread safety:** pure functions. Cost: no allocation; at most glob times subject steps.

#include <string_view>

namespace telltale::diag {

bool glob_matches(std::string_view glob, std::string_view subject) noexcept;

// For files: a glob without '/' is matched against what stands behind the last '/' of the path.
bool file_glob_matches(std::string_view glob, std::string_view path) noexcept;

}  // namespace telltale::diag
