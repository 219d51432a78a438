// SPDX-License-Identifier: Apache-2.0
//
// Facilities of syslog that a program may say it is, by the names of syslog(3).
//
// **Thread safety:** immutable.
// **Source:** RFC 5424, section 6.2.1.
#pragma once

#include <optional>
#include <string_view>

namespace telltale::config {

constexpr std::optional<unsigned> syslog_facility(std::string_view name) {
  constexpr std::string_view kLocal = "LOG_LOCAL";
  if (name == "LOG_USER") return 1;
  if (name == "LOG_DAEMON") return 3;
  if (name.size() == kLocal.size() + 1 && name.starts_with(kLocal) && name.back() >= '0' && name.back() <= '7') {
    return 16 + static_cast<unsigned>(name.back() - '0');
  }
  return std::nullopt;
}

}  // namespace telltale::config
