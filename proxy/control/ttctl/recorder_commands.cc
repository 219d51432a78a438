// SPDX-License-Identifier: Apache-2.0
#include "control/ttctl/recorder_commands.h"

#include "control/default_path.h"

namespace telltale::control {

RecorderCommands::RecorderCommands(CLI::App& recorder, Command& command, const std::string& config)
    : command_(command), config_(config) {
  CLI::App* dump = recorder.add_subcommand(
      "dump", "the last lines of every thread, of a daemon that lives, was killed or has crashed; asks no daemon");
  dump->fallthrough();
  CLI::Option* where = dump->add_option(
      "WHERE", where_, "its directory, a copy of that, its process id, or a core file; default: recorder below --config's var/");
  dump->add_option("--core", core_, "a core file of it")->type_name("FILE")->excludes(where);
  log_options_.add_to(*dump);
  dump->callback([this] { this->dump(); });
}

void RecorderCommands::dump() {
  RecorderPlace place{core_, true};
  if (core_.empty()) {
    const std::string runtime = config_.empty() ? default_runtime_dir() : default_runtime_dir(config_);
    place = {where_.empty() ? runtime + "/recorder" : where_, false};
  }
  command_.act = [place, view = log_options_.view(command_.json)](const Output& output) {
    return dump_recorder(place, view, output);
  };
}

}  // namespace telltale::control
