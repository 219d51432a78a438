// SPDX-License-Identifier: Apache-2.0
#include "control/ttctl/debug_talk.h"

#include <chrono>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "control/ttctl/interruption.h"

namespace telltale::control {

namespace json = boost::json;

namespace {

using Answered = tl::expected<Reply, std::string>;

constexpr std::chrono::milliseconds kAskAgainAfter{100};

json::object object_of(const Reply& reply) { return json::parse(reply.content).as_object(); }

Reply with(Reply reply, const json::object& object) {
  reply.content = json::serialize(object) + '\n';
  return reply;
}

}  // namespace

Answered ask_for_all_sites(Client& client, const Command& command) {
  Answered reply = client.ask(command.method, command.target, command.content);
  if (!reply || reply->status != 200) return reply;
  json::object all = object_of(*reply);
  while (const json::value* next = all.if_contains("next")) {
    const char* joint = command.target.find('?') == std::string::npos ? "?" : "&";
    Answered more =
        client.ask(command.method, fmt::format("{}{}after={}", command.target, joint, json::serialize(*next)), {});
    if (!more || more->status != 200) return more;
    json::object page = object_of(*more);
    for (json::value& site : page.at("sites").as_array()) all.at("sites").as_array().push_back(std::move(site));
    all.erase("next");
    if (const json::value* further = page.if_contains("next")) all["next"] = *further;
  }
  return with(std::move(*reply), all);
}

Answered wait_for_preview(Client& client, const Command& command) {
  Interruption interruption;
  Answered begun = client.ask(command.method, command.target, command.content);
  if (!begun || begun->status != 200) return begun;
  json::object lease = object_of(*begun);
  (void)interruption.wait(command.wait);  // cut short, it tells what was counted so far
  json::object id{{"id", lease.at("lease").at("id")}};
  Answered ended = client.ask("POST", "/v1/debug/preview/end", json::serialize(id));
  if (!ended || ended->status != 200) return ended;
  json::object answer = object_of(*ended);
  for (const char* name : {"tags_on", "sites_on", "near"}) {
    if (const json::value* value = lease.if_contains(name)) answer[name] = *value;
  }
  return with(std::move(*ended), answer);
}

Answered follow_to_its_end(Client& client, const Command& command) {
  Interruption interruption;
  Answered begun = client.ask(command.method, command.target, command.content);
  if (!begun || begun->status != 200) return begun;
  const json::value lease = object_of(*begun).at("lease").at("id");
  const std::string id = json::serialize(lease);
  std::string lines;
  for (;;) {
    Answered reply = client.ask("GET", "/v1/debug/follow?id=" + id, {});
    if (!reply || reply->status != 200) return reply;
    json::object answer = object_of(*reply);
    std::string_view more = answer.at("lines").as_string();
    lines += more.substr(0, kFollowedBytesMax - std::min(lines.size(), kFollowedBytesMax));
    std::string_view state = answer.at("state").as_string();
    const bool over = state == "ended" || state == "time is up";
    const bool interrupted = !over && !interruption.wait(more.empty() ? kAskAgainAfter : std::chrono::milliseconds{0});
    if (interrupted) {
      Answered ended = client.ask("POST", "/v1/debug/end", json::serialize(json::object{{"id", lease}}));
      if (!ended) return ended;
      answer["state"] = "interrupted";
    }
    if (over || interrupted) {
      answer["lines"] = lines;
      return with(std::move(*reply), answer);
    }
  }
}

}  // namespace telltale::control
