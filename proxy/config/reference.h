// SPDX-License-Identifier: Apache-2.0
//
// Records in words, for people: what `ttctl config describe` shows and docs/config_reference.md lists. The
// page's upper part is written by hand; all behind kGeneratedMark comes from the table, and a test compares.
//
// **Thread safety:** thread-safe.
// **Source:** record_table.h.
#pragma once

#include <string>
#include <string_view>

#include "config/record_table.h"

namespace telltale::config {

std::string_view type_words(Kind kind);      // "integer", "tag pattern"
std::string_view unit_words(Unit unit);      // "seconds"; empty: none
std::string_view change_words(Apply apply);  // "in force at once", "in force after a restart"

// What a value may be, without type and unit: "1 to 3600", "0 or 1"; of a text, its form.
std::string range_words(Record record);

inline constexpr std::string_view kGeneratedMark =
    "<!-- What follows is written by ./tt docs from proxy/config/record_list.h; a test compares. -->\n";

// The part of docs/config_reference.md behind the mark, in the order of names, a section for each first word.
std::string record_reference();

}  // namespace telltale::config
