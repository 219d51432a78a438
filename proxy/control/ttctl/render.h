// SPDX-License-Identifier: Apache-2.0
#pragma once
// The daemon's answers as text for people: one fact a line.
//
// Each function takes the JSON object of one answer of version 1 (docs/control.md). An answer that lacks
// what it should have ends in an exception of Boost.JSON; run() says that it was not understood.
//
// **Thread safety:** thread-safe.

#include <string>
#include <string_view>
#include <vector>

#include <boost/json/fwd.hpp>

namespace telltale::control {

[[nodiscard]] std::string render_record(const boost::json::object& answer);         // "NAME: VALUE"
[[nodiscard]] std::string render_records(const boost::json::object& answer);        // the same, many
// One record: all that is known of it, a fact a line. Many: each with its value and what it does.
[[nodiscard]] std::string render_descriptions(const boost::json::object& answer);
[[nodiscard]] std::string render_set(const boost::json::object& answer);
[[nodiscard]] std::string render_reload(const boost::json::object& answer);
[[nodiscard]] std::string render_reopened(const boost::json::object& answer);
[[nodiscard]] std::string render_status(const boost::json::object& answer);         // sections, values aligned

// What the command line named. An error's `where` may name one of them, and its offset then counts in it.
struct Argument {
  std::string_view where;  // in the protocol: "tags"
  std::string text;        // what was given
  std::string_view shown;  // before the reason: "--tags"; empty: the reason says enough
};
using Arguments = std::vector<Argument>;

// Each error on a line of its own; where it has an offset, the argument and a caret below.
[[nodiscard]] std::string render_errors(const boost::json::object& answer, const Arguments& arguments);

}  // namespace telltale::control
