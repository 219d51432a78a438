// SPDX-License-Identifier: Apache-2.0
#pragma once

// Sentences that both head parsers say, and what they look at to choose one. Used by their sources only.
//
// **Thread safety:** immutable.

#include <string_view>

#include "http/token.h"

namespace telltale::http1 {

inline constexpr std::string_view kOtherVersion = "the HTTP version is neither 1.0 nor 1.1";
inline constexpr std::string_view kTooManyOptions = "it has too many options";
inline constexpr std::string_view kNoColon = "it has no colon";
inline constexpr std::string_view kBadName = "its name holds a byte that names may not hold";
inline constexpr std::string_view kControlByte = "its value holds a control byte";
inline constexpr std::string_view kNoTokenList = "its value is not a list of tokens";
inline constexpr std::string_view kNoNumber = "its value is not a number";
inline constexpr std::string_view kTwice = "it is present more than once";
inline constexpr std::string_view kBothFramings = "Content-Length and Transfer-Encoding are both present";

// True for an HTTP version that is well formed and not one of ours.
inline bool has_other_version(std::string_view text) {
  constexpr std::string_view kName = "HTTP/";
  return text.size() == kName.size() + 3 && text.substr(0, kName.size()) == kName && http::is_digit(text[5]) &&
         text[6] == '.' && http::is_digit(text[7]) && text.substr(5) != "1.0" && text.substr(5) != "1.1";
}

}  // namespace telltale::http1
