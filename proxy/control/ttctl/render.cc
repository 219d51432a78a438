// SPDX-License-Identifier: Apache-2.0
#include "control/ttctl/render.h"

#include <algorithm>
#include <array>
#include <optional>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "control/ttctl/printable.h"
#include "hint/near_names.h"

namespace telltale::control {

namespace json = boost::json;

namespace {

std::string text(const json::value& value) { return printable(std::string_view(value.as_string())); }

// Any scalar, as people write it.
std::string shown(const json::value& value) { return value.is_string() ? text(value) : json::serialize(value); }

std::string padded(const std::string& text, std::size_t columns) {
  std::size_t have = printable_columns(text);
  return have < columns ? text + std::string(columns - have, ' ') : text;
}

// An empty text is to be seen too.
std::string visible(const json::value& value) { return value.as_string().empty() ? "\"\"" : text(value); }

std::string record_line(const json::object& record) {
  return fmt::format("{}: {}\n", text(record.at("name")), visible(record.at("value")));
}

}  // namespace

std::string render_record(const json::object& answer) { return record_line(answer.at("record").as_object()); }

std::string render_records(const json::object& answer) {
  std::string lines;
  for (const json::value& record : answer.at("records").as_array()) lines += record_line(record.as_object());
  return lines.empty() ? "no record matches\n" : lines;
}

std::string render_descriptions(const json::object& answer) {
  const json::array& records = answer.at("records").as_array();
  std::string lines;
  for (const json::value& one : records) {
    const json::object& record = one.as_object();
    if (records.size() > 1) {
      lines += record_line(record) + fmt::format("    {}\n", text(record.at("description")));
      continue;
    }
    const json::value* unit = record.if_contains("unit");
    lines = fmt::format("{}\n  {}\n", text(record.at("name")), text(record.at("description")));
    lines += fmt::format("  value    {}\n", visible(record.at("value")));
    lines += fmt::format("  source   {}\n", text(record.at("source")));
    lines += fmt::format("  type     {}\n", text(record.at("type")));
    if (unit != nullptr) lines += fmt::format("  unit     {}\n", text(*unit));
    lines += fmt::format("  range    {}\n", text(record.at("range")));
    lines += fmt::format("  default  {}\n", visible(record.at("default")));
    lines += fmt::format("  change   {}\n", text(record.at("change")) == "live" ? "in force at once" : "in force after a restart");
  }
  return lines;
}

std::string render_set(const json::object& answer) {
  const json::object& record = answer.at("record").as_object();
  return fmt::format("set {} to {}\n", text(record.at("name")), visible(record.at("value")));
}

std::string render_reload(const json::object& answer) {
  std::string lines;
  for (const json::value& name : answer.at("changed").as_array()) lines += fmt::format("changed: {}\n", text(name));
  if (lines.empty()) lines = "nothing changed\n";
  for (const json::value& name : answer.at("needs_restart").as_array()) {
    lines += fmt::format("needs a restart: {}\n", text(name));
  }
  if (const json::value* notes = answer.if_contains("notes")) {
    for (const json::value& note : notes->as_array()) lines += fmt::format("note: {}\n", text(note));
  }
  return lines;
}

std::string render_reopened(const json::object& answer) {
  if (answer.at("done").as_bool()) return fmt::format("opened {} anew\n", text(answer.at("path")));
  return fmt::format("{} is opened anew as soon as the writer of lines is no longer held up\n", text(answer.at("path")));
}

std::string render_status(const json::object& answer) {
  std::string lines;
  for (const auto& [section, items] : answer.at("status").as_object()) {
    lines += printable(std::string_view(section)) + '\n';
    std::size_t width = 0;
    for (const auto& [name, value] : items.as_object()) width = std::max(width, printable_columns(std::string_view(name)));
    for (const auto& [name, value] : items.as_object()) {
      lines += fmt::format("  {}  {}\n", padded(printable(std::string_view(name)), width), shown(value));
    }
  }
  return lines;
}

std::string render_errors(const json::object& answer, const Arguments& arguments) {
  std::string lines;
  for (const json::value& one : answer.at("errors").as_array()) {
    const json::object& error = one.as_object();
    const json::value* where = error.if_contains("where");
    const json::value* offset = error.if_contains("offset");
    const Argument* argument = nullptr;
    for (const Argument& given : arguments) {
      if (where != nullptr && std::string_view(where->as_string()) == given.where) argument = &given;
    }
    std::string place = argument != nullptr ? std::string(argument->shown) : where != nullptr ? text(*where) : std::string();
    lines += fmt::format("ttctl: refused: {}{}{}", place, place.empty() ? "" : ": ", text(error.at("what")));
    if (offset != nullptr) lines += fmt::format(" (offset {})", shown(*offset));
    lines += '\n';
    if (argument != nullptr && offset != nullptr) lines += caret_lines(argument->text, offset->to_number<std::size_t>());
  }
  return lines;
}

}  // namespace telltale::control
