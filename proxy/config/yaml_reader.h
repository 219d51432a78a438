// SPDX-License-Identifier: Apache-2.0
//
// Turns YAML text into a flat list of what it says: one item for each key with its path, kind, text and
// place. It gives no types (a scalar is its text) and knows no records; records_file.h does.
//
// What YAML offers beyond plain settings is refused with its place: a second document, anchors and
// aliases, explicit tags, directives, keys that are no scalars, the same key twice, and text in quotes that
// goes over several lines. So are tabs in an indentation.
//
// **Thread safety:** thread-safe.
// **Source:** YAML 1.2; yaml-cpp does the parsing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/problem.h"

namespace telltale::config {

struct YamlItem {
  enum class Kind : std::uint8_t {
    kScalar,        // text, quoted or not
    kNull,          // nothing, ~ or null, not quoted
    kSequence,      // its entries are not listed
    kMapping,       // its keys follow as items of their own
    kEmptyMapping,  // {}
  };
  std::string path;  // the keys from the top joined with dots; empty = the document itself
  Kind kind;
  std::string text;  // of kScalar
  int line;          // from 1, of the value
  int column;
};

inline constexpr std::size_t kYamlKeyBytesMax = 256;
inline constexpr std::size_t kYamlDepthMax = 16;

// Goes on after a mistake where it can: a line that cannot be read is reported and left out together with
// what is nested below it. REQUIRES: UTF-8 (clean_text()).
std::vector<YamlItem> read_yaml(std::string_view text, ProblemList& problems);

}  // namespace telltale::config
