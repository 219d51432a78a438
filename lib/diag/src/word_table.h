// SPDX-License-Identifier: Apache-2.0
#pragma once
// Words: the file, function and module names of sites, each kept once. A rule is matched against a word,
// not against every site that has it.
//
// **Thread safety:** thread-safe.

#include <cstdint>
#include <string_view>

namespace telltale::diag {

struct Word {
  std::uint32_t number = 0;
  std::uint64_t hash = 0;
  Word* next_in_chain = nullptr;
  std::string_view text;  // ends with a NUL behind it; never freed
};

inline constexpr std::uint32_t kWordsMax = 524'288;

// Null: kWordsMax are in. REQUIRES: no lock is held. Cost: as intern_tag(), without a match.
const Word* intern_word(std::string_view text);

}  // namespace telltale::diag
