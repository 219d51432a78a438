// SPDX-License-Identifier: Apache-2.0
#pragma once
// Names that somebody may have meant: for a tag pattern that matches nothing, a record that is not there, a
// command or an option that nobody knows (near_words.h). The one place that decides what is near.
//
// A name is near a text if it is
//   - at most a third of the longer one away (long ones: a sixth, but four), by inserting, deleting,
//     replacing, or swapping neighbours, letters of either case being equal; or
//   - contains the text, if that has three bytes or more ("hdrs", for "http_hdrs"); or
//   - ends in the same part behind its last dot, if that has eight bytes or more ("diags.client_ip").
//
// **Thread safety:** thread-safe. Cost: names x texts x length squared, each of them bounded.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace telltale::hint {

inline constexpr std::size_t kNearNamesMax = 3;
inline constexpr std::size_t kNearTextBytesMax = 128;    // a longer text is near nothing
inline constexpr std::size_t kNearAlternativesMax = 16;  // of a pattern; later ones are not looked at

[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

// At most kNearNamesMax of `names`, nearest first, then in order of name.
[[nodiscard]] std::vector<std::string> near_names(std::string_view text, const std::vector<std::string>& names);

// The same for a pattern: names near one of its alternatives, each stripped to its literal text.
[[nodiscard]] std::vector<std::string> near_pattern(std::string_view pattern, const std::vector<std::string>& names);

// "did you mean a, b or c?"; empty if there are no names.
[[nodiscard]] std::string did_you_mean(const std::vector<std::string>& names);

}  // namespace telltale::hint
