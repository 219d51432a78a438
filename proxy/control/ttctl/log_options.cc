// SPDX-License-Identifier: Apache-2.0
#include "control/ttctl/log_options.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>

#include <fmt/format.h>

#include "control/ttctl/log_time.h"

namespace telltale::control {

namespace {

constexpr std::string_view kLevelNames[] = {"debug", "status", "note",  "warning", "error", "fatal", "alert", "emergency"};
constexpr std::string_view kLocationNames[] = {"never", "debug", "all"};  // by ShowLocation

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::optional<std::uint64_t> transaction_number(std::string_view text) {
  if (text.starts_with('t')) text.remove_prefix(1);
  std::uint64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number == 0) return {};
  return number;
}

template <std::size_t N>
std::size_t index_of(const std::string_view (&names)[N], std::string_view name) {
  return static_cast<std::size_t>(std::find(names, names + N, name) - names);
}

std::string refuse_tags(const std::string& text) {
  auto pattern = diag::Pattern::compile(text);
  if (pattern) return {};
  const diag::Refusal& refusal = pattern.error();
  return refusal.offset ? fmt::format("{}, at byte {}", refusal.what, *refusal.offset) : refusal.what;
}
std::string refuse_transaction(const std::string& text) {
  return transaction_number(text) ? "" : "must be a transaction as lines name it, 345 or t345";
}
std::string refuse_time(const std::string& text) {
  return parse_log_time(text, now_ns()) ? "" : "must be a time such as 2026-11-30T10:00:00Z, or a duration, how long ago, such as 5m";
}
std::string refuse_level(const std::string& text) {
  return index_of(kLevelNames, text) < std::size(kLevelNames)
             ? ""
             : "must be debug, status, note, warning, error, fatal, alert or emergency";
}
std::string refuse_location(const std::string& text) {
  return index_of(kLocationNames, text) < std::size(kLocationNames) ? "" : "must be never, debug or all";
}

}  // namespace

void LogOptions::add_to(CLI::App& app) {
  auto option = [&app](const char* name, std::string& into, const char* type, const char* what,
                       std::string (*refuse)(const std::string&)) {
    app.add_option(name, into, what)->type_name(type)->check(CLI::Validator(refuse, ""));
  };
  option("--txn", transaction_, "ID", "only lines of this transaction", refuse_transaction);
  option("--tags", tags_, "RE", "only lines whose tag the pattern matches", refuse_tags);
  option("--level", level_, "LEVEL", "only lines of this level and above: debug, status, note, warning, error ...", refuse_level);
  option("--since", since_, "TIME", "only lines from then on: 2026-11-30T10:00:00Z, or how long ago: 5m", refuse_time);
  option("--until", until_, "TIME", "only lines up to then", refuse_time);
  option("--location", location_, "WHICH", "lines that show their place: never, debug, all; default: as the writer had it",
         refuse_location);
  group_option_ = app.add_flag("--group", group_, "keep each transaction's lines together");
}

diag::LogView LogOptions::view(bool json) const {
  diag::LogView view;
  if (!tags_.empty()) view.tags = diag::Pattern::compile(tags_).value();
  view.transaction = transaction_number(transaction_).value_or(0);
  if (!level_.empty()) view.least = static_cast<diag::Level>(index_of(kLevelNames, level_));
  const std::int64_t now = now_ns();
  if (!since_.empty()) view.since_ns = parse_log_time(since_, now);
  if (!until_.empty()) view.until_ns = parse_log_time(until_, now);
  if (!location_.empty()) view.show_location = static_cast<diag::ShowLocation>(index_of(kLocationNames, location_));
  view.group = group_;
  view.json = json;
  return view;
}

std::string lost_elsewhere_note(std::uint64_t lines) {
  if (lines == 0) return {};
  return fmt::format("ttctl: {} line{} lost while this was written; some may be missing here\n", lines, lines == 1 ? " was" : "s were");
}

}  // namespace telltale::control
