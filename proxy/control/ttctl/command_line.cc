// SPDX-License-Identifier: Apache-2.0
#include "control/ttctl/command_line.h"

#include <algorithm>
#include <optional>
#include <sstream>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <fmt/format.h>

#include "control/default_path.h"
#include "control/query.h"
#include "control/ttctl/debug_commands.h"
#include "control/ttctl/printable.h"
#include "control/ttctl/recorder_commands.h"
#include "control/utf8.h"
#include "hint/near_words.h"

namespace telltale::control {

namespace json = boost::json;

namespace {

std::string refuse_bytes(const std::string& text) { return is_utf8(text) ? "" : "is not UTF-8"; }

std::string refuse_text(const std::string& text) { return text.empty() ? "must not be empty" : refuse_bytes(text); }

// What the options are parsed into.
struct Given {
  std::string control, config, name, value, regex;
};

std::string render_stopping(const json::object&) { return {}; }

class Parser {
 public:
  Parser() {
    app_.name("ttctl");
    // No -h: 'config set NAME -http' would print help, change nothing and end with 0.
    app_.set_help_flag("--help", "print this help");
    app_.require_subcommand(1);
    text_option(app_, "--control", given_.control, "the daemon's control socket")->type_name("PATH");
    text_option(app_, "--config", given_.config, "the daemon's configuration folder: its var/control.sock is used")
        ->type_name("DIR");
    app_.add_flag("--json", command_.json, "print the daemon's answer as JSON");
    app_.footer("The socket is --control, else that of --config, else $TELLTALE_CONTROL, else " +
                default_control_path(default_runtime_dir()) +
                ".\nExit status: 0 done, 1 refused by the daemon or a file with an error, 2 wrong command line, 3 no answer from the daemon.");
    add_config();
    debug_.emplace(group("debug", "switch debug output, and see what is on"), command_);
    recorder_.emplace(group("recorder", "the last lines of a daemon, whatever became of it"), command_, given_.config);
    command(group("log", "the log file"), "reopen", "open the log file anew, after it was moved", [this] {
      ask("POST", "/v1/log/reopen", render_reopened);
    });
    command(app_, "status", "what the daemon is doing", [this] { ask("GET", "/v1/status", render_status); });
    command(app_, "stop", "stop the daemon, and wait until it has ended", [this] {
      ask("POST", "/v1/stop", render_stopping);
      command_.stops = true;
    });
  }

  tl::expected<Command, Usage> parse(std::vector<std::string> arguments, const std::string& environment_path) {
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants it
    try {
      app_.parse(std::move(arguments));
    } catch (const CLI::ParseError& e) {
      std::vector<std::string> unknown = app_.remaining(true);
      if (e.get_name() == "RequiredError" && !unknown.empty() && unknown.front()[0] != '-' && is_group_open()) {
        return tl::unexpected(Usage{2, fmt::format("ttctl: there is no command '{}'\n{}Run with --help for more information.\n",
                                                   printable(unknown.front()), hint())});
      }
      std::ostringstream out, err;
      bool wrong = app_.exit(e, out, err) != 0;
      return tl::unexpected(Usage{wrong ? 2 : 0, wrong ? "ttctl: " + err.str() + hint() : out.str()});
    }
    command_.control_path = !given_.control.empty()   ? given_.control
                            : !given_.config.empty()  ? default_control_path(default_runtime_dir(given_.config))
                            : !environment_path.empty() ? environment_path
                                                        : default_control_path(default_runtime_dir());
    return std::move(command_);
  }

 private:
  // A line, or nothing.
  std::string hint() {
    std::string words = hint::near_words(app_);
    return words.empty() ? words : "ttctl: " + words + '\n';
  }

  // No command has been chosen, or only the group it is in.
  bool is_group_open() {
    std::vector<CLI::App*> chosen = app_.get_subcommands();
    return chosen.empty() || (!chosen.front()->get_subcommands({}).empty() && chosen.front()->get_subcommands().empty());
  }

  CLI::Option* text_option(CLI::App& app, const std::string& name, std::string& into, const std::string& what) {
    return app.add_option(name, into, what)->check(CLI::Validator(refuse_text, ""));
  }

  CLI::App& group(const std::string& name, const std::string& what) {
    CLI::App* sub = app_.add_subcommand(name, what);
    sub->require_subcommand(1)->fallthrough();
    return *sub;
  }

  template <class Chosen>
  CLI::App& command(CLI::App& app, const std::string& name, const std::string& what, Chosen chosen) {
    CLI::App* sub = app.add_subcommand(name, what);
    sub->fallthrough();
    sub->callback(chosen);
    return *sub;
  }

  void ask(const char* method, std::string target, std::string (*render)(const json::object&), const json::object& content = {}) {
    command_.ask(method, std::move(target), render, content);
  }

  void add_config() {
    CLI::App& config = group("config", "read and change the running configuration");
    CLI::App& get = command(config, "get", "the value of one record", [this] {
      ask("GET", "/v1/config?name=" + percent_encode(given_.name), render_record);
      command_.arguments = {{"name", given_.name, {}}};
    });
    text_option(get, "NAME", given_.name, "a record, like proxy.config.diags.debug.tags")->required();
    CLI::App& set = command(config, "set", "change one record in the running daemon", [this] {
      ask("PUT", "/v1/config", render_set, {{"name", given_.name}, {"value", given_.value}});
      command_.arguments = {{"name", given_.name, {}}, {"value", given_.value, {}}};
    });
    text_option(set, "NAME", given_.name, "a record")->required();
    set.add_option("VALUE", given_.value, "its new value, \"\" for none; -- goes before one that begins with '-'")
        ->check(CLI::Validator(refuse_bytes, ""))
        ->required();
    CLI::App& match = command(config, "match", "every record whose name a pattern matches", [this] {
      ask("GET", "/v1/config/match?regex=" + percent_encode(given_.regex), render_records);
      command_.arguments = {{"regex", given_.regex, {}}};
    });
    text_option(match, "REGEX", given_.regex, "a pattern, like 'diags\\.debug'")->required();
    CLI::App& describe = command(config, "describe", "what a record is: its meaning, type, range, default, value, source", [this] {
      ask("GET", "/v1/config/describe?regex=" + percent_encode(given_.regex.empty() ? "." : given_.regex), render_descriptions);
      command_.arguments = {{"regex", given_.regex, {}}};
    });
    text_option(describe, "NAME", given_.regex, "a record, or a pattern for names; without one, every record");
    command(config, "reload", "read the configuration files again", [this] { ask("POST", "/v1/config/reload", render_reload); });
  }

  CLI::App app_{"Commands a running telltale daemon through its control socket."};
  Given given_;
  Command command_;
  std::optional<RecorderCommands> recorder_;
  std::optional<DebugCommands> debug_;  // made when app_ is as its commands shall be
};

}  // namespace

void Command::ask(const char* with_method, std::string of, std::string (*show)(const json::object&),
                  const json::object& with_content) {
  method = with_method;
  target = std::move(of);
  render = show;
  if (!with_content.empty()) content = json::serialize(with_content);
}

void Command::ask(const char* with_method, std::string of, std::string (*show)(const json::object&)) {
  ask(with_method, std::move(of), show, {});
}

tl::expected<Command, Usage> parse_command_line(std::vector<std::string> arguments, const std::string& environment_path) {
  return Parser().parse(std::move(arguments), environment_path);
}

}  // namespace telltale::control
