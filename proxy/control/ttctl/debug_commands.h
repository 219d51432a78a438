// SPDX-License-Identifier: Apache-2.0
#pragma once
// ttctl debug ...: its options, and which requests they become.
//
// **Thread safety:** thread-compatible.

#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "control/ttctl/command_line.h"
#include "control/ttctl/log_options.h"

namespace telltale::control {

class DebugCommands {
 public:
  // `command` is filled in when one of them was given. Both outlive the parse.
  DebugCommands(CLI::App& debug, Command& command);

 private:
  CLI::App& add(const std::string& name, const std::string& what, void (DebugCommands::*chosen)());
  CLI::Option* text_option(CLI::App& app, const std::string& name, std::string& into, const std::string& what);
  void add_selection(CLI::App& app);
  void add_enable();
  void add_follow();
  void add_sites();
  void add_cat();

  void enable();
  void disable();
  void tags();
  void sites();
  void status();
  void leases();
  void end();
  void preview();
  void follow();
  void cat();

  CLI::App& debug_;
  Command& command_;
  std::string tags_, client_ip_, duration_, reason_, file_, function_, module_, text_, host_, path_, method_, status_;
  std::vector<std::string> to_;
  std::string max_rate_, sample_, slower_than_, next_;
  std::vector<std::string> rules_, files_;
  LogOptions log_options_;
  std::uint64_t id_ = 0, max_lines_ = 0, replaces_ = 0;
  bool append_ = false, all_clients_ = false, on_ = false, why_ = false, unloaded_ = false, all_ = false, follow_file_ = false;
};

}  // namespace telltale::control
