// SPDX-License-Identifier: Apache-2.0
#include "control/api.h"

#include <array>
#include <exception>
#include <initializer_list>
#include <utility>

#include <boost/json.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/protocol.h"
#include "control/query.h"
#include "control/utf8.h"
#include "hint/near_names.h"

namespace telltale::control {

namespace json = boost::json;

namespace {

Answer give(unsigned status, json::object object) {
  return Answer{.status = status, .json = json::serialize(object) + '\n'};
}

json::object versioned() { return {{"version", kProtocolVersion}}; }

json::string text(std::string_view bytes) { return json::string(to_utf8(bytes)); }

json::array texts(const std::vector<std::string>& list) {
  json::array array;
  for (const std::string& one : list) array.emplace_back(text(one));
  return array;
}

json::object describe(const Error& error) {
  json::object object{{"what", text(error.what)}};
  if (!error.where.empty()) object["where"] = text(error.where);
  if (error.offset) object["offset"] = *error.offset;
  return object;
}

json::object describe(const Record& record) {
  return {{"name", text(record.name)}, {"value", text(record.value)}, {"source", text(record.source)}};
}

json::object describe(const diag::Lease& lease) {
  json::object object{{"id", lease.id}, {"tags", text(lease.tags)}};
  if (!lease.client_ip.empty()) object["client_ip"] = text(lease.client_ip);
  return object;
}

Answer refuse(unsigned status, const std::vector<Error>& errors) {
  json::object object = versioned();
  json::array& list = object["errors"].emplace_array();
  for (const Error& error : errors) list.emplace_back(describe(error));
  return give(status, std::move(object));
}

// What a handler is given. Handlers of paths without parameters or content ignore them: the table says
// which there are, and the rest has been refused.
struct Call {
  Target& target;
  const RequestTarget& request;
  const json::object& content;

  [[nodiscard]] const std::string& parameter() const { return request.parameters.front().second; }
  [[nodiscard]] std::string member(const char* name) const {
    const json::value* value = content.if_contains(name);
    return value != nullptr ? std::string(value->get_string()) : std::string();
  }
  [[nodiscard]] bool flag(const char* name) const {
    const json::value* value = content.if_contains(name);
    return value != nullptr && value->get_bool();
  }
};

Answer status(const Call& call) {
  json::object object = versioned();
  json::object& sections = object["status"].emplace_object();
  for (const StatusSection& section : call.target.status()) {
    json::object& items = sections[to_utf8(section.name)].emplace_object();
    for (const StatusItem& item : section.items) {
      json::value& value = items[to_utf8(item.name)];
      if (const auto* s = std::get_if<std::string>(&item.value)) {
        value = text(*s);
      } else if (const auto* n = std::get_if<std::uint64_t>(&item.value)) {
        value = *n;
      } else {
        value = std::get<bool>(item.value);
      }
    }
  }
  return give(200, std::move(object));
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

Answer debug_tags(const Call& call) {
  json::object object = versioned();
  json::array& list = object["tags"].emplace_array();
  for (const diag::TagState& tag : call.target.debug_tags()) {
    const char* state = !tag.on ? "off" : tag.clients_only ? "on for clients" : "on";
    list.emplace_back(json::object{{"tag", text(tag.name)}, {"state", state}, {"sites", tag.sites}, {"hits", tag.hits}});
  }
  return give(200, std::move(object));
}

// The filter that a lease for all clients would widen; empty: none.
std::string narrowed_by(const DebugState& state) {
  if (state.base.mode == diag::Mode::kOnForClients) {
    return fmt::format("proxy.config.diags.debug.enabled 2 (client_ip '{}')", state.base.client_ip);
  }
  for (const diag::Lease& lease : state.leases) {
    if (!lease.client_ip.empty()) return fmt::format("lease {} (client_ip '{}')", lease.id, lease.client_ip);
  }
  return {};
}

Answer debug_enable(const Call& call) {
  diag::LeaseRequest request{call.member("tags"), call.member("client_ip"), call.flag("append")};
  bool all_clients = call.flag("all_clients");
  if (call.content.contains("client_ip") && request.client_ip.empty()) {
    return refuse(400, {{.what = "client_ip is empty; leave it out to print for all clients", .where = "client_ip"}});
  }
  if (all_clients && !request.client_ip.empty()) {
    return refuse(400, {{.what = "client_ip and all_clients contradict each other", .where = "client_ip"}});
  }
  if (request.client_ip.empty() && !all_clients) {
    std::string filter = narrowed_by(call.target.debug_state());
    if (!filter.empty()) {
      return refuse(409, {{.what = fmt::format("debug output is limited to some clients by {}; name the clients "
                                               "(client_ip), or say that it is for all (all_clients)",
                                               filter),
                           .where = "client_ip"}});
    }
  }

  auto enabled = call.target.debug_enable(request);
  if (!enabled) return refuse(422, {enabled.error()});
  json::object object = versioned();
  object["lease"] = describe(enabled->lease);
  object["tags_on"] = texts(enabled->tags_on);
  if (enabled->tags_on.empty()) {
    std::vector<std::string> names;
    for (diag::TagState& tag : call.target.debug_tags()) names.push_back(std::move(tag.name));
    object["near"] = texts(hint::near_pattern(request.tags, names));
  }
  json::array& list = object["lines_go_to"].emplace_array();
  for (const Destination& destination : enabled->destinations) {
    json::object& one = list.emplace_back(json::object{{"kind", text(destination.kind)}}).get_object();
    if (!destination.path.empty()) one["path"] = text(destination.path);
  }
  Answer done = give(200, std::move(object));
  done.change = fmt::format("opened lease {}: tags '{}', {}", enabled->lease.id, enabled->lease.tags,
                            enabled->lease.client_ip.empty() ? "all clients" : "clients " + enabled->lease.client_ip);
  return done;
}

Answer debug_disable(const Call& call) {
  auto disabled = call.target.debug_disable();
  if (!disabled) return refuse(422, {disabled.error()});
  json::object object = versioned();
  object["leases_ended"] = disabled->leases_ended;
  object["enabled_before"] = describe(disabled->enabled_before);
  Answer done = give(200, std::move(object));
  done.change = fmt::format("switched debug off; leases ended: {}; {} was '{}' ({})", disabled->leases_ended,
                            disabled->enabled_before.name, disabled->enabled_before.value, disabled->enabled_before.source);
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

struct Member {
  const char* name;
  json::kind kind;
  bool required;
};

// One row per path and method: what it takes, and who answers.
struct Route {
  std::string_view method;
  std::string_view path;
  std::string_view parameter;  // required; empty: takes none
  std::vector<Member> members; // of the content; empty: takes no content, or {}
  Answer (*handle)(const Call&);
};

const std::vector<Route>& routes() {
  static const std::vector<Route> table{
      {"GET", "/v1/status", "", {}, status},
      {"GET", "/v1/config", "name", {}, config_get},
      {"PUT", "/v1/config", "", {{"name", json::kind::string, true}, {"value", json::kind::string, true}}, config_set},
      {"GET", "/v1/config/match", "regex", {}, config_match},
      {"GET", "/v1/config/describe", "regex", {}, config_describe},
      {"POST", "/v1/config/reload", "", {}, config_reload},
      {"GET", "/v1/debug/tags", "", {}, debug_tags},
      {"POST", "/v1/debug/enable", "",
       {{"tags", json::kind::string, true},
        {"append", json::kind::bool_, false},
        {"client_ip", json::kind::string, false},
        {"all_clients", json::kind::bool_, false}},
       debug_enable},
      {"POST", "/v1/debug/disable", "", {}, debug_disable},
      {"POST", "/v1/stop", "", {}, stop},
  };
  return table;
}

// An empty text: the parameters are the route's.
std::string refuse_parameters(const Route& route, const RequestTarget& request) {
  for (const auto& [name, value] : request.parameters) {
    if (name != route.parameter) return fmt::format("{} has no query parameter '{}'", route.path, name);
  }
  if (!route.parameter.empty() && request.parameters.empty()) {
    return fmt::format("{} needs the query parameter '{}'", route.path, route.parameter);
  }
  return {};
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
    } else if (got->kind() != member.kind) {
      return tl::unexpected(fmt::format("the member '{}' must be a {}", member.name,
                                        member.kind == json::kind::string ? "string" : "bool (true or false)"));
    }
  }
  return std::move(*object);
}

Answer dispatch(Target& target, std::string_view method, std::string_view request_target, std::string_view content) {
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
    return route.handle(Call{target, *request, *object});
  }
  if (allow.empty()) return refusal(404, fmt::format("there is no path {}", request->path));
  Answer wrong_method = refusal(405, fmt::format("{} takes {}, not {}", request->path, allow, method));
  wrong_method.allow = std::move(allow);
  return wrong_method;
}

}  // namespace

Answer refusal(unsigned status, std::string_view what) { return refuse(status, {Error{.what = std::string(what)}}); }

Answer answer(Target& target, std::string_view method, std::string_view request_target, std::string_view content) noexcept {
  // The daemon goes on serving whatever happens here; out of memory while refusing ends it, as anywhere.
  try {
    return dispatch(target, method, request_target, content);
  } catch (const std::exception& e) {
    return refusal(500, fmt::format("the daemon failed: {}", e.what()));
  }
}

}  // namespace telltale::control
