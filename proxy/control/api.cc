// SPDX-License-Identifier: Apache-2.0
#include "control/api.h"

#include <algorithm>
#include <exception>
#include <utility>

#include <boost/json.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/api_call.h"
#include "control/protocol.h"
#include "control/query.h"
#include "control/utf8.h"

namespace telltale::control {

namespace json = boost::json;

namespace {

Answer status(const Call& call) {
  json::object object = versioned();
  object["status"] = describe(call.target.status());
  return give(200, std::move(object));
}

Answer log_reopen(const Call& call) {
  auto reopened = call.target.log_reopen();
  if (!reopened) return refuse(422, {reopened.error()});
  json::object object = versioned();
  object["path"] = text(reopened->path);
  object["done"] = reopened->done;
  Answer done = give(200, std::move(object));
  done.change = fmt::format("opened {} anew", reopened->path);
  return done;
}

Answer config_get(const Call& call) {
  auto record = call.target.config_get(call.parameter());
  if (!record) return refuse(422, {record.error()});
  json::object object = versioned();
  object["record"] = describe(*record);
  return give(200, std::move(object));
}

Answer config_set(const Call& call) {
  auto record = call.target.config_set(call.member("name"), call.member("value"));
  if (!record) return refuse(422, {record.error()});
  json::object object = versioned();
  object["record"] = describe(*record);
  Answer set = give(200, std::move(object));
  set.change = fmt::format("set {} to '{}'", record->name, record->value);
  return set;
}

Answer config_match(const Call& call) {
  auto records = call.target.config_match(call.parameter());
  if (!records) return refuse(422, {records.error()});
  json::object object = versioned();
  json::array& list = object["records"].emplace_array();
  for (const Record& record : *records) list.emplace_back(describe(record));
  return give(200, std::move(object));
}

Answer config_describe(const Call& call) {
  auto records = call.target.config_describe(call.parameter());
  if (!records) return refuse(422, {records.error()});
  json::object object = versioned();
  json::array& list = object["records"].emplace_array();
  for (const Description& one : *records) {
    json::object& record = list.emplace_back(describe(one.record)).get_object();
    record["description"] = text(one.what);
    record["type"] = text(one.type);
    if (!one.unit.empty()) record["unit"] = text(one.unit);
    record["range"] = text(one.range);
    record["default"] = text(one.default_value);
    record["change"] = one.live ? "live" : "restart";
  }
  return give(200, std::move(object));
}

Answer config_reload(const Call& call) {
  auto reloaded = call.target.config_reload();
  if (!reloaded) return refuse(422, reloaded.error());
  json::object object = versioned();
  object["changed"] = texts(reloaded->changed);
  object["needs_restart"] = texts(reloaded->needs_restart);
  if (!reloaded->notes.empty()) object["notes"] = texts(reloaded->notes);
  Answer done = give(200, std::move(object));
  done.change = fmt::format("reloaded the configuration, changed: {}",
                            reloaded->changed.empty() ? "nothing" : fmt::to_string(fmt::join(reloaded->changed, " ")));
  return done;
}

Answer stop(const Call&) {
  json::object object = versioned();
  object["stopping"] = true;
  Answer done = give(200, std::move(object));
  done.change = "asked for a stop";
  done.stop = true;
  return done;
}

const std::vector<Route>& routes() {
  static const std::vector<Route> table = [] {
    std::vector<Route> all{
      {"GET", "/v1/status", "", {}, status},
      {"GET", "/v1/config", "name", {}, config_get},
      {"PUT", "/v1/config", "", {{"name", json::kind::string, true}, {"value", json::kind::string, true}}, config_set},
      {"GET", "/v1/config/match", "regex", {}, config_match},
      {"GET", "/v1/config/describe", "regex", {}, config_describe},
      {"POST", "/v1/config/reload", "", {}, config_reload},
      {"POST", "/v1/log/reopen", "", {}, log_reopen},
      {"POST", "/v1/stop", "", {}, stop},
    };
    for (const Route& route : debug_routes()) all.push_back(route);
    return all;
  }();
  return table;
}

// An empty text: the parameters are the route's.
std::string refuse_parameters(const Route& route, const RequestTarget& request) {
  for (const auto& [name, value] : request.parameters) {
    bool optional = std::find(route.optional.begin(), route.optional.end(), name) != route.optional.end();
    if (name != route.parameter && !optional) return fmt::format("{} has no query parameter '{}'", route.path, name);
  }
  if (!route.parameter.empty() && find_parameter(request, route.parameter) == nullptr) {
    return fmt::format("{} needs the query parameter '{}'", route.path, route.parameter);
  }
  return {};
}

// A list is one of strings, a number none below 0.
bool is_a(const json::value& value, json::kind kind) {
  if (kind == json::kind::int64) return value.is_int64() ? value.get_int64() >= 0 : value.is_uint64();
  if (value.kind() != kind) return false;
  if (kind != json::kind::array) return true;
  const json::array& list = value.get_array();
  return std::all_of(list.begin(), list.end(), [](const json::value& one) { return one.is_string(); });
}

const char* words(json::kind kind) {
  switch (kind) {
    case json::kind::string: return "string";
    case json::kind::int64: return "number (0 or more)";
    case json::kind::array: return "list of strings";
    default: return "bool (true or false)";
  }
}

// The content of a request, or why it is not what the route takes.
tl::expected<json::object, std::string> read_content(const Route& route, std::string_view content) {
  if (content.empty() && route.members.empty()) return json::object{};
  if (route.method == "GET") return tl::unexpected(std::string("a GET request has no content"));
  // Bytes and depth are bounded: the server's limit, and eight levels where one is used.
  json::parse_options options;
  options.max_depth = 8;
  json::error_code error;
  json::value value = json::parse(content, error, {}, options);
  if (error) return tl::unexpected(fmt::format("the content is not JSON: {}", error.message()));
  json::object* object = value.if_object();
  if (object == nullptr) return tl::unexpected(std::string("the content must be a JSON object"));

  for (const auto& [name, unused] : *object) {
    bool known = false;
    for (const Member& member : route.members) known = known || name == member.name;
    if (!known) return tl::unexpected(fmt::format("{} has no member '{}'", route.path, std::string_view(name)));
  }
  for (const Member& member : route.members) {
    const json::value* got = object->if_contains(member.name);
    if (got == nullptr) {
      if (member.required) return tl::unexpected(fmt::format("{} needs the member '{}'", route.path, member.name));
    } else if (!is_a(*got, member.kind)) {
      return tl::unexpected(fmt::format("the member '{}' must be a {}", member.name, words(member.kind)));
    }
  }
  return std::move(*object);
}

Answer dispatch(Target& target, std::string_view method, std::string_view request_target, std::string_view content,
                std::string_view peer) {
  auto request = parse_target(request_target);
  if (!request) return refusal(400, request.error());

  std::string allow;
  for (const Route& route : routes()) {
    if (route.path != request->path) continue;
    if (route.method != method) {
      allow += (allow.empty() ? "" : ", ");
      allow += route.method;
      continue;
    }
    if (std::string why = refuse_parameters(route, *request); !why.empty()) return refusal(400, why);
    auto object = read_content(route, content);
    if (!object) return refusal(400, object.error());
    return route.handle(Call{target, *request, *object, peer, route.parameter});
  }
  if (allow.empty()) return refusal(404, fmt::format("there is no path {}", request->path));
  Answer wrong_method = refusal(405, fmt::format("{} takes {}, not {}", request->path, allow, method));
  wrong_method.allow = std::move(allow);
  return wrong_method;
}

}  // namespace

Answer refusal(unsigned status, std::string_view what) { return refuse(status, {Error{.what = std::string(what)}}); }

Answer answer(Target& target, std::string_view method, std::string_view request_target, std::string_view content,
              std::string_view peer) noexcept {
  // The daemon goes on serving whatever happens here; out of memory while refusing ends it, as anywhere.
  try {
    return dispatch(target, method, request_target, content, peer);
  } catch (const std::exception& e) {
    return refusal(500, fmt::format("the daemon failed: {}", e.what()));
  }
}

}  // namespace telltale::control
