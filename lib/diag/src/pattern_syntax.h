// SPDX-License-Identifier: Apache-2.0
#pragma once
// What PCRE2 accepts and we refuse: slips that would silently match every tag, or none.
//
// **Thread safety:** pure function.

#include <optional>
#include <string_view>

#include <telltale/diag/debug_control.h>

namespace telltale::diag {

// Finds an empty pattern, an empty alternative ("http|", "a||b", "(a|)", "()") and a comma outside a
// class, an escape and a quantifier; names the offset. REQUIRES: PCRE2 accepts `pattern`, or it is empty.
std::optional<Refusal> check_pattern_syntax(std::string_view pattern);

}  // namespace telltale::diag
