// SPDX-License-Identifier: Apache-2.0
#pragma once
// A change of what is on: matched outside the registry's lock, put in force by one store under it.
//
// **Thread safety:** one change at a time; REQUIRES: Registry::changes is held, Registry::lock is not.

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include <telltale/diag/debug_control.h>

#include "debug_control_sources.h"

namespace telltale::diag {

inline constexpr std::chrono::milliseconds kMatchTimeMax{500};  // of one change, over all tags and sites

struct SourcesChange {
  std::shared_ptr<const Sources> next;
  std::uint64_t kept;             // sources whose matches stay as they are
  std::optional<unsigned> fresh;  // the source whose rules are new: matched against every tag and site
};

// What the fresh source has on.
struct Applied {
  std::vector<std::string> tags_on;  // in order of name
  std::uint32_t sites_on = 0;        // loaded ones
};

// When it returns, every site, control and thread obeys.
// Errors: a match that ends in an error (names the tag), or kMatchTimeMax; nothing is changed then.
tl::expected<Applied, Refusal> apply(SourcesChange change);

}  // namespace telltale::diag
