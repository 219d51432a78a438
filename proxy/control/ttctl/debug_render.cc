// SPDX-License-Identifier: Apache-2.0
#include "control/ttctl/debug_render.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <vector>

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

// Empty: it is not there.
std::string optional(const json::object& object, const char* name) {
  const json::value* value = object.if_contains(name);
  return value == nullptr ? std::string() : shown(*value);
}

std::string time_left(const json::object& lease) {
  const json::value* ms = lease.if_contains("ends_in_ms");
  if (ms == nullptr) return "until it is ended";
  return fmt::format("{:.1f} s left", static_cast<double>(ms->to_number<std::int64_t>()) / 1000);
}

// What a lease has on, in one line: "tags http", "rules file=*.cc".
std::string selection(const json::object& lease) {
  std::string line;
  for (const char* name : {"tags", "rules"}) {
    std::string value = optional(lease, name);
    if (!value.empty()) line += fmt::format("{}{} {}", line.empty() ? "" : ", ", name, value);
  }
  return line;
}

std::string bytes_words(double bytes) {
  if (bytes >= 1e6) return fmt::format("{:.1f} MB", bytes / 1e6);
  if (bytes >= 1e3) return fmt::format("{:.1f} kB", bytes / 1e3);
  return fmt::format("{:.0f} B", bytes);
}

}  // namespace

std::string render_tags(const json::object& answer) {
  std::vector<std::array<std::string, 4>> rows{{"STATE", "TAG", "SITES", "HITS"}};
  for (const json::value& one : answer.at("tags").as_array()) {
    const json::object& tag = one.as_object();
    rows.push_back({text(tag.at("state")), text(tag.at("tag")), shown(tag.at("sites")), shown(tag.at("hits"))});
  }
  if (rows.size() == 1) return "no tag is known\n";
  std::array<std::size_t, 4> width{};
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
  }
  std::string lines;
  for (const auto& row : rows) {
    lines += fmt::format("{:<{}}  {:<{}}  {:>{}}  {:>{}}\n", row[0], width[0], row[1], width[1], row[2], width[2],
                         row[3], width[3]);
  }
  return lines;
}

std::string render_enabled(const json::object& answer) {
  const json::object& lease = answer.at("lease").as_object();
  std::string lines = fmt::format("lease {}: {}\n", shown(lease.at("id")), selection(lease));
  const json::value* clients = lease.if_contains("client_ip");
  lines += fmt::format("clients: {}\n", clients != nullptr ? text(*clients) : "all");

  std::string max_lines = optional(lease, "max_lines"), reason = optional(lease, "reason");
  lines += fmt::format("ends: {}{}\n", lease.if_contains("ends_in_ms") ? time_left(lease) : "when it is ended",
                       max_lines.empty() ? "" : ", or after " + max_lines + " lines");
  std::string rate = optional(lease, "max_rate"), sample = optional(lease, "sample");
  if (!rate.empty()) lines += fmt::format("rate: at most {} lines/s; above it, what writes the most is taken back\n", rate);
  if (!sample.empty()) lines += fmt::format("sample: 1 of {} transactions\n", sample);
  if (!reason.empty()) lines += fmt::format("reason: {}\n", reason);
  lines += fmt::format("sites on: {}\n", shown(answer.at("sites_on")));

  for (const json::value& tag : answer.at("tags_on").as_array()) lines += fmt::format("on: {}\n", text(tag));
  if (answer.at("tags_on").as_array().empty()) {
    std::vector<std::string> near;
    for (const json::value& name : answer.at("near").as_array()) near.push_back(text(name));
    lines += near.empty() ? "no tag matches yet; 'ttctl debug tags' lists those there are\n"
                          : fmt::format("no tag matches yet; {}\n", hint::did_you_mean(near));
  }

  const json::array& destinations = answer.at("lines_go_to").as_array();
  for (const json::value& one : destinations) {
    const json::value* path = one.as_object().if_contains("path");
    lines += fmt::format("lines go to: {}\n", path != nullptr ? text(*path) : text(one.at("kind")));
  }
  if (destinations.empty()) lines += "lines go nowhere: proxy.config.diags.output.debug names no output\n";
  return lines;
}

std::string render_disabled(const json::object& answer) {
  const json::object& before = answer.at("enabled_before").as_object();
  std::string lines = fmt::format("leases ended: {}\n", shown(answer.at("leases_ended")));
  if (text(before.at("value")) == "0") {
    lines += fmt::format("{}: 0, as before\n", text(before.at("name")));
  } else {
    lines += fmt::format("{}: 0, was {} ({})\n", text(before.at("name")), text(before.at("value")),
                         text(before.at("source")));
  }
  return lines;
}

std::string render_leases(const json::object& answer) {
  std::string lines;
  for (const json::value& one : answer.at("leases").as_array()) {
    const json::object& lease = one.as_object();
    lines += fmt::format("lease {}: {}\n", shown(lease.at("id")), selection(lease));
    std::string kind = text(lease.at("kind")), clients = optional(lease, "client_ip"),
                max = optional(lease, "max_lines");
    if (kind != "print") lines += fmt::format("  kind     {}\n", kind);
    lines += fmt::format("  clients  {}\n", clients.empty() ? "all" : clients);
    lines += fmt::format("  opened   {}\n  ends     {}\n", text(lease.at("opened")), time_left(lease));
    lines += fmt::format("  lines    {}{}\n", shown(lease.at("lines")), max.empty() ? "" : " of " + max);
    std::string rate = optional(lease, "max_rate"), sample = optional(lease, "sample");
    if (!rate.empty()) lines += fmt::format("  rate     at most {} lines/s\n", rate);
    if (const json::value* taken = lease.if_contains("taken_back")) {
      for (const json::value& item : taken->as_array()) {
        lines += fmt::format("  taken back  {} ({:.0f} lines/s)\n", text(item.at("rule")), item.at("lines_per_s").to_number<double>());
      }
    }
    if (!sample.empty()) lines += fmt::format("  sample   1 of {} transactions\n", sample);
    if (const json::value* to = lease.if_contains("to")) {
      std::string names;
      for (const json::value& name : to->as_array()) names += (names.empty() ? "" : ", ") + text(name);
      lines += fmt::format("  to       {}\n", names);
    }
    for (const char* name : {"owner", "reason"}) {
      std::string value = optional(lease, name);
      if (!value.empty()) lines += fmt::format("  {:<7}  {}\n", name, value);
    }
  }
  return lines.empty() ? "no lease is open\n" : lines;
}

std::string render_ended(const json::object& answer) {
  const json::object& lease = answer.at("lease").as_object();
  return fmt::format("ended lease {}: {}, after {} lines\n", shown(lease.at("id")), selection(lease),
                     shown(lease.at("lines")));
}

std::string render_sites(const json::object& answer) {
  std::vector<const json::object*> sites;
  for (const json::value& one : answer.at("sites").as_array()) sites.push_back(&one.as_object());
  auto key = [](const json::object* site) {
    return std::tuple(std::string_view(site->at("module").as_string()), std::string_view(site->at("file").as_string()),
                      site->at("line").to_number<std::uint64_t>());
  };
  std::stable_sort(sites.begin(), sites.end(), [&](const auto* a, const auto* b) { return key(a) < key(b); });
  std::string lines, module;
  for (const json::object* site : sites) {
    if (text(site->at("module")) != module || lines.empty()) {
      module = text(site->at("module"));
      lines += fmt::format("{}\n", module.empty() ? "(unknown module)" : module);
    }
    lines += fmt::format("  {:<14} {:>8}  {}:{} ({}) [{}] \"{}\"\n", text(site->at("state")), shown(site->at("hits")),
                         text(site->at("file")), shown(site->at("line")), text(site->at("function")),
                         text(site->at("tag")), text(site->at("format")));
    std::string last = text(site->at("state")) == "unloaded" ? optional(*site, "last_line") : "";
    if (!last.empty()) lines += fmt::format("      last: {}\n", last);
    const json::value* why = site->if_contains("why");
    if (why == nullptr) continue;
    for (const json::value& one : why->as_array()) {
      const json::object& reason = one.as_object();
      std::string decided = optional(reason, "decided"), nearest = optional(reason, "nearest");
      lines += fmt::format("      {} by {}: {}\n", reason.at("on").as_bool() ? "on" : "off", text(reason.at("source")),
                           decided.empty() ? "no rule matches" : decided);
      if (!nearest.empty()) lines += fmt::format("        nearest: {}\n", nearest);
    }
  }
  return lines.empty() ? "no site is like that\n" : lines + fmt::format("{} sites\n", sites.size());
}

std::string render_preview(const json::object& answer) {
  const double seconds = std::max(answer.at("seconds").to_number<double>(), 1e-3);
  auto rate = [seconds](const json::object& row) {
    return fmt::format("{:.0f} lines/s, {}/s", row.at("lines").to_number<double>() / seconds,
                       bytes_words(row.at("bytes").to_number<double>() / seconds));
  };
  std::string lines = fmt::format("counted for {:.1f} s, nothing was written\n", seconds);
  lines += fmt::format("all: {}, about {:.2f} % of a core\n", rate(answer),
                       answer.at("core_share").to_number<double>() * 100);
  for (const json::value& one : answer.at("tags").as_array()) {
    lines += fmt::format("tag {}: {}\n", text(one.at("name")), rate(one.as_object()));
  }
  for (const json::value& one : answer.at("sites").as_array()) {
    lines += fmt::format("site {}: {}\n", text(one.at("name")), rate(one.as_object()));
  }
  lines += fmt::format("sites that matched: {}\n", shown(answer.at("sites_on")));
  return lines;
}

std::string render_followed(const json::object& answer) {
  std::string lines;
  std::string_view all = answer.at("lines").as_string();
  while (!all.empty()) {
    std::size_t end = std::min(all.find('\n'), all.size());
    lines += printable(all.substr(0, end)) + '\n';
    all.remove_prefix(std::min(end + 1, all.size()));
  }
  if (answer.at("lines_lost").to_number<std::uint64_t>() != 0) {
    lines += fmt::format("{} lines are missing here: more came than are kept\n", shown(answer.at("lines_lost")));
  }
  const json::value* transactions = answer.if_contains("transactions");
  const json::value* given_up = answer.if_contains("given_up");
  if (given_up != nullptr && given_up->to_number<std::uint64_t>() != 0) {
    lines += fmt::format("{} transactions were not kept until their end: too many at a time, or too long\n", shown(*given_up));
  }
  if (transactions != nullptr && !transactions->as_array().empty()) {
    for (const json::value& one : transactions->as_array()) {
      const auto status = one.at("status").to_number<unsigned>();
      lines += fmt::format("transaction {}: {} after {:.1f} ms\n", shown(one.at("id")),
                           status == 0 ? std::string("no answer") : fmt::format("answered {}", status),
                           one.at("us").to_number<double>() / 1000);
    }
    const std::string state = text(answer.at("state"));
    return state == "ended" ? lines : lines + state + '\n';
  }
  std::string transaction = optional(answer, "transaction");
  if (transaction.empty()) {
    return lines + (text(answer.at("state")) == "interrupted" ? "interrupted: no transaction had matched\n" : "no transaction matched before the lease ended\n");
  }
  return lines + fmt::format("transaction {}: {}\n", transaction, text(answer.at("state")));
}

}  // namespace telltale::control
