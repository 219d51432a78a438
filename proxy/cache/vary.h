// SPDX-License-Identifier: Apache-2.0
#pragma once
// Vary: which request fields chose a stored response, and whether another request would choose it too.
//
// When a response with Vary is stored, the request's values of the fields it names are kept with it, as one
// "selecting text". A later request matches if it has the same values. Values are normalised in one way only, the
// same for storing and for looking up: lines of one field are joined with commas, and white space around commas
// outside quotes is dropped. Nothing else is taken for equal: not another order, not another case, since what an
// origin does with those is its own affair. An absent field differs from an empty one.
//
// The values are those an origin gets: a field that is hop-by-hop, or that the request's Connection field names,
// counts as absent.
//
// **Thread safety:** pure functions. **Source:** RFC 9111, section 4.1; RFC 9110, section 12.5.5.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "http/fields.h"

namespace telltale::cache {

// A response that varies on more fields is not stored.
inline constexpr std::size_t kVaryFieldsMax = 16;

// The selecting text of a response to this request: empty without Vary, nullopt where no later request can be
// known to match ("Vary: *", a member that is no field name, too many members).
std::optional<std::string> selecting_text(const http::Fields& response, const http::Fields& request);

// The selecting text this request would have given a response with the Vary of `selecting`.
std::string selecting_text_like(std::string_view selecting, const http::Fields& request);

// True if this request chooses what was stored with `selecting`. Cost: no allocation.
bool selected_by(std::string_view selecting, const http::Fields& request);

}  // namespace telltale::cache
