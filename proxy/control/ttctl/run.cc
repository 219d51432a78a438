// SPDX-License-Identifier: Apache-2.0
#include "control/ttctl/run.h"

#include <exception>
#include <utility>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "control/protocol.h"
#include "control/ttctl/client.h"
#include "control/ttctl/command_line.h"
#include "control/ttctl/printable.h"

namespace telltale::control {

namespace json = boost::json;

namespace {

Outcome failure(int exit_status, const std::string& what) {
  return {.exit_status = exit_status, .err = fmt::format("ttctl: {}\n", printable(what))};
}

Outcome show(const Command& command, const Reply& reply) {
  json::error_code error;
  json::value value = json::parse(reply.content, error);
  const json::object* answer = value.if_object();
  const json::value* version = answer != nullptr ? answer->if_contains("version") : nullptr;
  if (version == nullptr) return failure(kExitRefused, fmt::format("what answers at {} is no telltale daemon", command.control_path));
  if (*version != kProtocolVersion) {
    return failure(kExitRefused, fmt::format("the daemon answers in version {} of the control protocol, this ttctl knows {}",
                                             json::serialize(*version), kProtocolVersion));
  }

  Outcome outcome;
  if (command.json) outcome.out = reply.content;
  if (reply.status == 200) {
    if (!command.json) outcome.out = command.render(*answer);
    return outcome;
  }
  outcome.exit_status = kExitRefused;
  outcome.err = render_errors(*answer, command.arguments);
  if (reply.status == 409) outcome.err += "ttctl: give --client-ip ADDR, or --all-clients\n";
  return outcome;
}

Outcome await_end(const Client& client, std::chrono::milliseconds timeout) {
  if (client.pid() == 0) return {.out = "stopping\n"};
  if (client.wait_for_end(timeout)) return {.out = fmt::format("process {} has ended\n", client.pid())};
  return failure(kExitRefused, fmt::format("process {} is stopping, but has not ended within {} s", client.pid(),
                                           static_cast<double>(timeout.count()) / 1000));
}

// A command that needs no daemon.
Outcome act(const Command& command, const Output* output) {
  Outcome outcome;
  const Output collect{[&outcome](std::string_view text) {
                         outcome.out += text;
                         return true;
                       },
                       [&outcome](std::string_view text) { outcome.err += text; }};
  outcome.exit_status = command.act(output != nullptr ? *output : collect);
  return outcome;
}

}  // namespace

Outcome run(std::vector<std::string> arguments, const std::string& environment_path, const Patience& patience,
            const Output* output) {
  auto command = parse_command_line(std::move(arguments), environment_path);
  if (!command) {
    const Usage& usage = command.error();
    return usage.exit_status == 0 ? Outcome{.out = usage.text} : Outcome{.exit_status = kExitUsage, .err = usage.text};
  }
  if (command->act) return act(*command, output);
  auto client = Client::connect(command->control_path, patience.answer);
  if (!client) return failure(kExitNoAnswer, client.error());
  try {
    auto reply = command->talk != nullptr ? command->talk(*client, *command)
                                          : client->ask(command->method, command->target, command->content);
    if (!reply) return failure(kExitNoAnswer, reply.error());
    Outcome outcome = show(*command, *reply);
    if (!command->stops || outcome.exit_status != kExitDone) return outcome;
    Outcome ended = await_end(*client, patience.end);
    if (command->json) ended.out = std::move(outcome.out);
    return ended;
  } catch (const std::exception&) {
    return failure(kExitRefused, fmt::format("the daemon's answer to {} {} is not understood", command->method, command->target));
  }
}

}  // namespace telltale::control
