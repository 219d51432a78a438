// SPDX-License-Identifier: Apache-2.0
#pragma once
// Field names as HTTP/2 has them: in lower case, for those that the proxy knows.
//
// **Thread safety:** immutable. **Source:** RFC 9113 section 8.2.

#include <string_view>

#include "http/field_name.h"

namespace telltale::http2 {

// Empty for kOther. Lives for ever.
std::string_view lower_name(http::FieldId id) noexcept;

}  // namespace telltale::http2
