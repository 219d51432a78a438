// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the handlers of the control protocol share: the call they are given, the table they stand in, and
// the JSON of what is answered in more than one place. For api.cc and api_debug.cc.
//
// **Thread safety:** loop-bound, as Target is.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json.hpp>

#include "control/api.h"
#include "control/query.h"
#include "control/target.h"

namespace telltale::control {

// Null: it was not given.
const std::string* find_parameter(const RequestTarget& request, std::string_view name);

// What a handler is given. Handlers of paths without parameters or content ignore them: the table says
// which there are, and the rest has been refused.
struct Call {
  Target& target;
  const RequestTarget& request;
  const boost::json::object& content;
  std::string_view peer;
  std::string_view required;  // the route's parameter

  [[nodiscard]] const std::string& parameter() const { return *find_parameter(request, required); }
  // Empty, false, none: it was not given.
  [[nodiscard]] std::string optional(std::string_view name) const;
  [[nodiscard]] std::string member(const char* name) const;
  [[nodiscard]] bool flag(const char* name) const;
  [[nodiscard]] std::optional<std::uint64_t> number(const char* name) const;
  [[nodiscard]] std::vector<std::string> list(const char* name) const;
};

struct Member {
  const char* name;
  boost::json::kind kind;  // string, bool_, int64 (0 or more), array (of strings)
  bool required;
};

// One row per path and method: what it takes, and who answers.
struct Route {
  std::string_view method;
  std::string_view path;
  std::string_view parameter;   // required; empty: takes none
  std::vector<Member> members;  // of the content; empty: takes no content, or {}
  Answer (*handle)(const Call&);
  std::vector<std::string_view> optional = {};  // parameters
};
std::vector<Route> debug_routes();

Answer give(unsigned status, boost::json::object object);
Answer refuse(unsigned status, const std::vector<Error>& errors);
boost::json::object versioned();
boost::json::string text(std::string_view bytes);
boost::json::array texts(const std::vector<std::string>& list);
boost::json::object describe(const Record& record);
boost::json::object describe(const Status& status);

}  // namespace telltale::control
