// SPDX-License-Identifier: Apache-2.0
#pragma once
// A change of what is on: matched outside the registry's lock, put in force by one store under it.
//
// **Thread safety:** one change at a time; REQUIRES: Registry::changes is held, Registry::lock is not.

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <tl/expected.hpp>

#include <telltale/diag/debug_control.h>

#include "debug_control_sources.h"
#include "tag_table.h"

namespace telltale::diag {

inline constexpr std::chrono::milliseconds kMatchTimeMax{500};  // of one change, over all tags

struct SourcesChange {
  std::shared_ptr<const Sources> next;
  std::uint64_t kept;             // sources whose matches stay as they are
  std::optional<unsigned> fresh;  // the source whose pattern is new: matched against every tag
};

// Returns the tags the fresh pattern matches. When it returns, every site, control and thread obeys.
// Errors: a match that ends in an error (names the tag), or kMatchTimeMax; nothing is changed then.
tl::expected<std::vector<const Tag*>, Refusal> apply(SourcesChange change);

}  // namespace telltale::diag
