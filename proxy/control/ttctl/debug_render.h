// SPDX-License-Identifier: Apache-2.0
#pragma once
// The daemon's answers about debug output as text for people. See render.h.
//
// **Thread safety:** thread-safe.

#include <string>

#include <boost/json/fwd.hpp>

namespace telltale::control {

[[nodiscard]] std::string render_tags(const boost::json::object& answer);  // a table
[[nodiscard]] std::string render_enabled(const boost::json::object& answer);
[[nodiscard]] std::string render_disabled(const boost::json::object& answer);
[[nodiscard]] std::string render_leases(const boost::json::object& answer);
[[nodiscard]] std::string render_ended(const boost::json::object& answer);
[[nodiscard]] std::string render_sites(const boost::json::object& answer);  // in order of module, file and line
[[nodiscard]] std::string render_preview(const boost::json::object& answer);
[[nodiscard]] std::string render_followed(const boost::json::object& answer);

}  // namespace telltale::control
