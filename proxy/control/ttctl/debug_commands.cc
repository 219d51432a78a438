// SPDX-License-Identifier: Apache-2.0
#include "control/ttctl/debug_commands.h"

#include <charconv>
#include <optional>
#include <string_view>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "control/query.h"
#include "control/ttctl/debug_cat.h"
#include "control/ttctl/debug_render.h"
#include "control/ttctl/debug_talk.h"
#include "control/ttctl/duration.h"
#include "control/utf8.h"

namespace telltale::control {

namespace json = boost::json;

namespace {

// Of lines and of leases: what JSON's numbers hold everywhere.
constexpr std::uint64_t kNumberMax = 9'007'199'254'740'991;

std::string refuse_text(const std::string& text) {
  if (text.empty()) return "must not be empty";
  return is_utf8(text) ? "" : "is not UTF-8";
}

std::string refuse_duration(const std::string& text) {
  if (text == "forever" || parse_duration(text)) return "";
  return fmt::format("'{}' is not a duration; expected a number and ms, s, m, h or d, such as 30s, up to {}d, or forever", text, kDurationDaysMax);
}

std::string refuse_short_duration(const std::string& text) {
  if (parse_duration(text)) return "";
  return fmt::format("'{}' is not a duration; expected a number and ms, s, m, h or d, such as 2s", text);
}

// Digits only: CLI11 takes what is too large for the largest number.
std::string refuse_number(const std::string& text) {
  std::uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value > 0 && value <= kNumberMax) return "";
  return fmt::format("'{}' is not a number from 1 to {}", text, kNumberMax);
}

// "1000/s".
std::optional<std::uint64_t> parse_rate(std::string_view text) {
  std::uint64_t lines = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), lines);
  if (error != std::errc() || lines == 0 || std::string_view(end, text.data() + text.size()) != "/s") return std::nullopt;
  return lines;
}
std::string refuse_rate(const std::string& text) {
  return parse_rate(text) ? "" : fmt::format("'{}' is not a rate; expected lines a second, at least 1, such as 1000/s", text);
}

// "1/100".
std::optional<std::uint64_t> parse_sample(std::string_view text) {
  std::uint64_t sample = 0;
  if (!text.starts_with("1/")) return std::nullopt;
  auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), sample);
  if (error != std::errc() || sample == 0 || end != text.data() + text.size()) return std::nullopt;
  return sample;
}
std::string refuse_sample(const std::string& text) {
  return parse_sample(text) ? "" : fmt::format("'{}' is not a sample; expected one in so many transactions, such as 1/100", text);
}

// "5", or nothing.
std::optional<std::uint64_t> parse_count(std::string_view text) {
  std::uint64_t count = 1;
  if (text.empty()) return count;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || count == 0 || end != text.data() + text.size()) return std::nullopt;
  return count;
}
std::string refuse_count(const std::string& text) {
  return parse_count(text) ? "" : fmt::format("'{}' is not a number of transactions; expected 1 or more", text);
}

// "500" are milliseconds.
std::optional<std::uint64_t> parse_milliseconds(const std::string& text) {
  const bool bare = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  return parse_duration(bare ? text + "ms" : text);
}
std::string refuse_milliseconds(const std::string& text) {
  return parse_milliseconds(text) ? "" : fmt::format("'{}' is not a time; expected milliseconds above 0, or a duration such as 2s", text);
}

json::array texts(const std::vector<std::string>& list) {
  json::array all;
  for (const std::string& one : list) all.emplace_back(json::string(one));
  return all;
}

std::string joined(const std::vector<std::string>& rules) {
  std::string all;
  for (const std::string& rule : rules) all += (all.empty() ? "" : "; ") + rule;
  return all;
}

}  // namespace

DebugCommands::DebugCommands(CLI::App& debug, Command& command) : debug_(debug), command_(command) {
  add_enable();
  CLI::App& off =
      add("disable", "end all leases and set proxy.config.diags.debug.enabled to 0", &DebugCommands::disable);
  off.add_flag("--all", all_, "the same, said in full: leases, -T and the records");
  add("tags", "every tag: on or off, sites, hits", &DebugCommands::tags);
  add_sites();
  add("status", "what became of the lines: threads, drops, sinks, the log file, the flight recorder", &DebugCommands::status);
  add("leases", "the leases that are open", &DebugCommands::leases);
  add("end", "end one lease", &DebugCommands::end)
      .add_option("ID", id_, "its number")
      ->required()
      ->check(CLI::Validator(refuse_number, ""));
  CLI::App& preview =
      add("preview", "what it would cost: matching sites only count, nothing is written", &DebugCommands::preview);
  add_selection(preview);
  preview.add_option("--for", duration_, "how long to count, at most 60s")
      ->type_name("DURATION")
      ->required()
      ->check(CLI::Validator(refuse_short_duration, ""));
  add_follow();
  add_cat();
}

void DebugCommands::add_follow() {
  CLI::App& follow = add("follow", "show all lines of the next transactions that match, and no others'", &DebugCommands::follow);
  follow.add_option("--next", next_, "how many of them; default 1")
      ->type_name("N")
      ->expected(0, 1)
      ->check(CLI::Validator(refuse_count, ""));
  text_option(follow, "--client,--client-ip", client_ip_, "from these clients")->type_name("ADDR");
  text_option(follow, "--host", host_, "for this host, with its port where that matters")->type_name("HOST[:PORT]");
  text_option(follow, "--path", path_, "whose target the pattern matches anywhere")->type_name("RE");
  text_option(follow, "--method", method_, "with this method, in either case")->type_name("NAME");
  text_option(follow, "--status", status_,
              "that end with this status: codes, classes, none (no answer), comma-separated; lines go to no log")
      ->type_name("5xx,404");
  follow.add_option("--slower-than", slower_than_, "that take longer, from the request's head to their end; lines go to no log")
      ->type_name("MS")
      ->check(CLI::Validator(refuse_milliseconds, ""));
  text_option(follow, "--tags", tags_, "only lines of these tags")->type_name("RE");
  follow.add_option("--for", duration_, "how long to wait for them, and for their end; default 60s")
      ->type_name("DURATION")
      ->check(CLI::Validator(refuse_short_duration, ""));
}

void DebugCommands::add_cat() {
  CLI::App& cat = add("cat", "the lines of binary logs (diags.blog, rolled and compressed ones too); asks no daemon",
                      &DebugCommands::cat);
  cat.add_option("FILE", files_, "merged by time where there are several; - is stdin")->required();
  log_options_.add_to(cat);
  cat.add_flag("--follow", follow_file_, "show what the file grows by, over rotation; of one file")->excludes(log_options_.group());
}

CLI::App& DebugCommands::add(const std::string& name, const std::string& what, void (DebugCommands::*chosen)()) {
  CLI::App* sub = debug_.add_subcommand(name, what);
  sub->fallthrough();
  sub->callback([this, chosen] { (this->*chosen)(); });
  return *sub;
}

CLI::Option* DebugCommands::text_option(CLI::App& app, const std::string& name, std::string& into,
                                        const std::string& what) {
  return app.add_option(name, into, what)->check(CLI::Validator(refuse_text, ""));
}

void DebugCommands::add_selection(CLI::App& app) {
  text_option(app, "--tags", tags_, "pattern, matched at the start of a tag: 'http|dns'")->type_name("RE");
  app.add_option(
         "--rule", rules_,
         "[-]KEY=VALUE ..., keys: tag file function line module text; repeatable, the last that matches decides")
      ->type_name("RULE")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false)
      ->check(CLI::Validator(refuse_text, ""));
  text_option(app, "--client-ip", client_ip_, "only for these clients: addresses and CIDR blocks, comma-separated")
      ->type_name("ADDR");
}

void DebugCommands::add_enable() {
  CLI::App& enable = add("enable", "open a lease: what matches is on until it ends", &DebugCommands::enable);
  add_selection(enable);
  enable.add_flag("--append", append_, "keep the leases that are open; without it they end");
  enable.add_option("--replace", replaces_, "end this lease in the same change, and keep the others")
      ->type_name("ID")
      ->check(CLI::Validator(refuse_number, ""));
  enable.add_flag("--all-clients", all_clients_, "print for all clients though output is limited to some now")
      ->excludes("--client-ip");
  enable
      .add_option("--for", duration_,
                  "how long: 30s, 5m, 2h, forever; default: proxy.config.telltale.debug.lease_duration")
      ->type_name("DURATION")
      ->check(CLI::Validator(refuse_duration, ""));
  enable.add_option("--max-lines", max_lines_, "end it after so many lines")
      ->type_name("N")
      ->check(CLI::Validator(refuse_number, ""));
  enable
      .add_option("--max-rate", max_rate_,
                  "lines a second it may write: above that, the sites that write the most are taken back from it")
      ->type_name("N/s")
      ->check(CLI::Validator(refuse_rate, ""));
  enable.add_option("--sample", sample_, "only for one in so many transactions, and all lines of those")
      ->type_name("1/N")
      ->check(CLI::Validator(refuse_sample, ""));
  enable
      .add_option("--to", to_,
                  "where its lines go instead: stdout, stderr, text, binary, json, syslog, journald; several with commas")
      ->type_name("OUTPUT")
      ->delimiter(',')
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false)
      ->check(CLI::Validator(refuse_text, ""));
  text_option(enable, "--reason", reason_, "why: shown with the lease, and in the log");
}

void DebugCommands::add_sites() {
  CLI::App& sites = add("sites", "every debug site: where, what, on or off, hits", &DebugCommands::sites);
  text_option(sites, "--tags", tags_, "whose tag matches")->type_name("RE");
  text_option(sites, "--file", file_, "in these files")->type_name("GLOB");
  text_option(sites, "--function", function_, "in these functions")->type_name("GLOB");
  text_option(sites, "--module", module_, "in this program or library")->type_name("NAME");
  text_option(sites, "--text", text_, "whose format has this in it")->type_name("SUBSTRING");
  sites.add_flag("--on", on_, "that are on");
  sites.add_flag("--unloaded", unloaded_, "those of unloaded modules too, with their hits and last lines");
  sites.add_flag("--why", why_, "the lease or record and the rule that decided, or came nearest");
}

void DebugCommands::enable() {
  if (tags_.empty() && rules_.empty()) throw CLI::RequiredError("--tags or --rule");
  json::object content;
  if (!tags_.empty()) content["tags"] = tags_;
  if (!rules_.empty()) content["rules"] = texts(rules_);
  if (append_) content["append"] = true;
  if (replaces_ != 0) content["replaces"] = replaces_;
  if (!client_ip_.empty()) content["client_ip"] = client_ip_;
  if (all_clients_) content["all_clients"] = true;
  if (!duration_.empty()) content["for_ms"] = parse_duration(duration_).value_or(0);
  if (max_lines_ != 0) content["max_lines"] = max_lines_;
  if (!max_rate_.empty()) content["max_rate"] = parse_rate(max_rate_).value_or(0);
  if (!sample_.empty()) content["sample"] = parse_sample(sample_).value_or(0);
  if (!to_.empty()) content["to"] = texts(to_);
  if (!reason_.empty()) content["reason"] = reason_;
  command_.ask("POST", "/v1/debug/enable", render_enabled, std::move(content));
  command_.arguments = {{"tags", tags_, "--tags"},
                        {"rules", joined(rules_), "--rule"},
                        {"client_ip", client_ip_, "--client-ip"},
                        {"max_rate", max_rate_, "--max-rate"},
                        {"sample", sample_, "--sample"},
                        {"to", fmt::to_string(fmt::join(to_, ",")), "--to"}};
}

void DebugCommands::disable() { command_.ask("POST", "/v1/debug/disable", render_disabled); }
void DebugCommands::tags() { command_.ask("GET", "/v1/debug/tags", render_tags); }
void DebugCommands::status() { command_.ask("GET", "/v1/debug/status", render_status); }
void DebugCommands::leases() { command_.ask("GET", "/v1/debug/leases", render_leases); }
void DebugCommands::end() {
  command_.ask("POST", "/v1/debug/end", render_ended, {{"id", id_}});
  command_.arguments = {{"id", std::to_string(id_), {}}};
}

void DebugCommands::sites() {
  std::string query;
  auto add = [&query](const char* name, const std::string& value) {
    if (!value.empty()) query += fmt::format("{}{}={}", query.empty() ? '?' : '&', name, percent_encode(value));
  };
  add("tags", tags_);
  add("file", file_);
  add("function", function_);
  add("module", module_);
  add("text", text_);
  if (on_) add("on", "1");
  if (unloaded_) add("unloaded", "1");
  if (why_) add("why", "1");
  command_.ask("GET", "/v1/debug/sites" + query, render_sites);
  command_.talk = ask_for_all_sites;
  command_.arguments = {{"tags", tags_, "--tags"}};
}

void DebugCommands::preview() {
  if (tags_.empty() && rules_.empty()) throw CLI::RequiredError("--tags or --rule");
  std::uint64_t for_ms = parse_duration(duration_).value_or(0);
  json::object content{{"for_ms", for_ms}};
  if (!tags_.empty()) content["tags"] = tags_;
  if (!rules_.empty()) content["rules"] = texts(rules_);
  if (!client_ip_.empty()) content["client_ip"] = client_ip_;
  command_.ask("POST", "/v1/debug/preview", render_preview, std::move(content));
  command_.talk = wait_for_preview;
  command_.wait = std::chrono::milliseconds(for_ms);
  command_.arguments = {
      {"tags", tags_, "--tags"}, {"rules", joined(rules_), "--rule"}, {"client_ip", client_ip_, "--client-ip"}};
}

void DebugCommands::follow() {
  json::object content{{"tags", tags_.empty() ? ".*" : tags_}};
  content["for_ms"] = duration_.empty() ? 60'000 : parse_duration(duration_).value_or(0);
  auto add = [&content](const char* name, const std::string& value) {
    if (!value.empty()) content[name] = value;
  };
  add("client_ip", client_ip_);
  add("host", host_);
  add("path", path_);
  add("method", method_);
  add("status", status_);
  if (!slower_than_.empty()) content["slower_than_ms"] = parse_milliseconds(slower_than_).value_or(0);
  if (!next_.empty()) content["next"] = parse_count(next_).value_or(0);
  command_.ask("POST", "/v1/debug/follow", render_followed, std::move(content));
  command_.talk = follow_to_its_end;
  command_.arguments = {{"tags", tags_, "--tags"}, {"client_ip", client_ip_, "--client"}, {"path", path_, "--path"},
                        {"host", host_, "--host"}, {"method", method_, "--method"}, {"status", status_, "--status"},
                        {"slower_than_ms", slower_than_, "--slower-than"}, {"next", next_, "--next"}};
}

void DebugCommands::cat() {
  if (follow_file_ && files_.size() != 1) throw CLI::ValidationError("--follow", "follows one file, not " + std::to_string(files_.size()));
  diag::LogView view = log_options_.view(command_.json);
  command_.act = [files = files_, view = std::move(view), follow = follow_file_](const Output& output) {
    return follow ? follow_log(files.front(), view, output) : cat_logs(files, view, output);
  };
}

}  // namespace telltale::control
