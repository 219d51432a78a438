// SPDX-License-Identifier: Apache-2.0
#pragma once
// Refusal: why a change was refused. Nothing was changed then.
//
// **Thread safety:** a value.

#include <cstddef>
#include <optional>
#include <string>

namespace telltale::diag {

struct Refusal {
  std::string what;                        // a sentence: what was wrong, and what was expected
  std::optional<std::size_t> offset = {};  // byte of the pattern, rules or address list, where one can be named
};

}  // namespace telltale::diag
