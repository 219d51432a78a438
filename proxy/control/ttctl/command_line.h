// SPDX-License-Identifier: Apache-2.0
#pragma once
// ttctl's command line: which request to make, and how to show the answer.
//
// **Thread safety:** thread-safe.

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include <boost/json/fwd.hpp>
#include <tl/expected.hpp>

#include "control/ttctl/render.h"

namespace telltale::control {

class Client;
struct Output;
struct Reply;

struct Command {
  std::string control_path;
  bool json = false;  // print the answer as it came

  std::string method;
  std::string target;
  std::string content;  // JSON, or empty
  Arguments arguments;  // for carets in errors
  std::string (*render)(const boost::json::object&) = nullptr;
  bool stops = false;  // wait until the daemon has ended
  // Of a command that takes more than one request; null: that above is the only one.
  tl::expected<Reply, std::string> (*talk)(Client&, const Command&) = nullptr;
  // Of a command that needs no daemon: it does all, and returns the exit status.
  std::function<int(const Output&)> act;
  std::chrono::milliseconds wait{0};  // between two of its requests

  void ask(const char* with_method, std::string of, std::string (*show)(const boost::json::object&),
           const boost::json::object& with_content);
  void ask(const char* with_method, std::string of, std::string (*show)(const boost::json::object&));
};

// Nothing to do but print: help, or what is wrong with the command line.
struct Usage {
  int exit_status;  // 0 for help
  std::string text;
};

// `arguments` without the program's name. `environment_path`: TELLTALE_CONTROL, or empty.
[[nodiscard]] tl::expected<Command, Usage> parse_command_line(std::vector<std::string> arguments,
                                                              const std::string& environment_path);

}  // namespace telltale::control
