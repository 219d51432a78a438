// SPDX-License-Identifier: Apache-2.0
#pragma once
// Names that somebody may have meant: for a tag pattern that matches nothing.
//
// Each alternative of the pattern is stripped to its literal text and compared with every name by edit
// distance (insert, delete, replace, swap of neighbours), letters of either case being equal; a name
// that contains the text is near too.
//
// **Thread safety:** thread-safe. Cost: names x alternatives x length squared, each of them bounded.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace telltale::control {

inline constexpr std::size_t kNearNamesMax = 5;
inline constexpr std::size_t kNearAlternativesMax = 16;  // of the pattern; later ones are not looked at

[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

// At most kNearNamesMax of `names`, nearest first, then in order of name.
[[nodiscard]] std::vector<std::string> near_names(std::string_view pattern, const std::vector<std::string>& names);

}  // namespace telltale::control
