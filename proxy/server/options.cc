// SPDX-License-Identifier: Apache-2.0
#include "server/options.h"

#include <cstdio>

#include <CLI/CLI.hpp>

#include "control/default_path.h"
#include "hint/near_words.h"
#include "server/version.h"

namespace telltale::server {

std::optional<Options> parse_options(int argc, char** argv, int& exit_status) {
  Options options;
  options.config_dir = control::kDefaultConfigDir;
  CLI::App app{"Telltale: an HTTP caching reverse proxy whose debug output is switched on live", "telltale"};
  app.set_version_flag("--version", std::string("telltale ") + std::string(kVersion));
  app.add_option("--config", options.config_dir, "folder with records.yaml and remap.config")->capture_default_str();
  app.add_option("--runtime", options.runtime_dir, "folder for logs and the control socket (default: var/ below --config)");
  app.add_option("--control", options.control_path, "path of the control socket (default: control.sock below --runtime)");
  app.add_option("--set", options.set, "RECORD=VALUE, in place of what records.yaml says, until a reload finds its text there changed; repeatable")
      ->take_all()->expected(1)->allow_extra_args(false);
  app.add_option("-T", options.tags, "start with debug mode 1 and these tags");
  app.add_flag("--show-secrets", options.show_secrets, "mask nothing in debug lines: credentials, cookies and bodies are shown; for test machines");
  app.add_flag("--check", options.check_only, "validate the configuration and exit");
  app.footer("Signals: SIGTERM and SIGINT stop, SIGHUP reloads the configuration, SIGUSR1 switches all debug off,\nSIGUSR2 opens diags.log anew.\n"
             "Exit status: 0 stopped, or with --check valid; 1 configuration or start refused; 2 wrong command line.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    exit_status = app.exit(e) == 0 ? 0 : 2;
    std::string hint = exit_status != 0 ? hint::near_words(app) : std::string();
    if (!hint.empty()) std::fprintf(stderr, "telltale: %s\n", hint.c_str());
    return std::nullopt;
  }
  if (options.runtime_dir.empty()) options.runtime_dir = control::default_runtime_dir(options.config_dir);
  if (options.control_path.empty()) options.control_path = control::default_control_path(options.runtime_dir);
  return options;
}

}  // namespace telltale::server
