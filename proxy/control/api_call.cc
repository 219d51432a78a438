// SPDX-License-Identifier: Apache-2.0
#include "control/api_call.h"

#include <utility>

#include "control/protocol.h"
#include "control/utf8.h"

namespace telltale::control {

namespace json = boost::json;

const std::string* find_parameter(const RequestTarget& request, std::string_view name) {
  for (const auto& [given, value] : request.parameters) {
    if (given == name) return &value;
  }
  return nullptr;
}

std::string Call::optional(std::string_view name) const {
  const std::string* value = find_parameter(request, name);
  return value != nullptr ? *value : std::string();
}

std::string Call::member(const char* name) const {
  const json::value* value = content.if_contains(name);
  return value != nullptr ? std::string(value->get_string()) : std::string();
}

bool Call::flag(const char* name) const {
  const json::value* value = content.if_contains(name);
  return value != nullptr && value->get_bool();
}

std::optional<std::uint64_t> Call::number(const char* name) const {
  const json::value* value = content.if_contains(name);
  if (value == nullptr) return std::nullopt;
  return value->to_number<std::uint64_t>();
}

std::vector<std::string> Call::list(const char* name) const {
  std::vector<std::string> all;
  if (const json::value* value = content.if_contains(name)) {
    for (const json::value& one : value->get_array()) all.emplace_back(one.get_string());
  }
  return all;
}

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

json::object describe(const Record& record) {
  return {{"name", text(record.name)}, {"value", text(record.value)}, {"source", text(record.source)}};
}

json::object describe(const Status& status) {
  json::object sections;
  for (const StatusSection& section : status) {
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
  return sections;
}

Answer refuse(unsigned status, const std::vector<Error>& errors) {
  json::object object = versioned();
  json::array& list = object["errors"].emplace_array();
  for (const Error& error : errors) {
    json::object& one = list.emplace_back(json::object{{"what", text(error.what)}}).get_object();
    if (!error.where.empty()) one["where"] = text(error.where);
    if (error.offset) one["offset"] = *error.offset;
  }
  return give(status, std::move(object));
}

}  // namespace telltale::control
