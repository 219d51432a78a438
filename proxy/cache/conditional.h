// SPDX-License-Identifier: Apache-2.0
#pragma once
// Conditional requests, on both sides: a client's conditions judged against a stored response, and conditions of our
// own for the origin. If-Match and If-Unmodified-Since are for the origin alone and never judged here.
//
// **Thread safety:** pure functions. **Source:** RFC 9110, sections 8.8.3 and 13; RFC 9111, section 4.3.

#include <cstdint>
#include <string_view>

#include "cache/stored_response.h"
#include "http/fields.h"

namespace telltale::cache {

// Entity tags, compared weakly: as those of If-None-Match. Both must be well formed.
bool same_tag_weakly(std::string_view a, std::string_view b) noexcept;
// Both strong, and the same: as that of If-Range.
bool same_tag_strongly(std::string_view a, std::string_view b) noexcept;

// Whether the client has what is stored already, which is then answered with 304 (Not Modified). If-None-Match goes
// before If-Modified-Since; both are ignored where the stored response is not a 2xx.
bool client_has_it(const http::Fields& request, const StoredResponse& stored) noexcept;

// Of its fields, those a 304 carries.
bool belongs_into_304(http::FieldId id) noexcept;

// There is something to ask the origin with.
bool has_validator(const StoredResponse& stored) noexcept;

// Puts our conditions in place of the client's. REQUIRES: has_validator(stored).
void set_conditions(http::Fields& request, const StoredResponse& stored);

// Whether a 304 that answers our conditions is about the stored response: what validators it has are the same.
bool is_about(const http::Fields& not_modified, const StoredResponse& stored) noexcept;

// The fields of a stored response freshened by a 304: those it brings replace those of the same names, but for what
// describes the content itself.
void freshen(http::Fields& stored, const http::Fields& not_modified);
// Not one of those.
bool may_freshen(http::FieldId id) noexcept;

}  // namespace telltale::cache
