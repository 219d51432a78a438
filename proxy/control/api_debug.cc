// SPDX-License-Identifier: Apache-2.0
// The control protocol's part about debug output: leases, sites, preview, follow.
#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "control/api_call.h"
#include "hint/near_names.h"

namespace telltale::control {

namespace json = boost::json;

namespace {

using std::chrono::milliseconds;

const char* words(diag::LeaseKind kind) {
  return kind == diag::LeaseKind::kCount ? "preview" : kind == diag::LeaseKind::kFollow ? "follow" : "print";
}

std::int64_t ms_left(const diag::Lease& lease) {
  auto left = std::chrono::ceil<milliseconds>(*lease.ends - std::chrono::steady_clock::now());
  return std::max<std::int64_t>(left.count(), 0);
}

json::object describe(const diag::Lease& lease) {
  json::object object{{"id", lease.id}};
  auto add = [&object](const char* name, const std::string& value) {
    if (!value.empty()) object[name] = text(value);
  };
  add("tags", lease.tags);
  add("rules", lease.rules);
  add("client_ip", lease.client_ip);
  object["kind"] = words(lease.kind);
  add("owner", lease.owner);
  add("reason", lease.reason);
  object["opened"] = fmt::format("{:%FT%TZ}", std::chrono::floor<std::chrono::seconds>(lease.opened));
  if (lease.ends) object["ends_in_ms"] = ms_left(lease);
  object["lines"] = lease.lines;
  if (lease.max_lines != 0) object["max_lines"] = lease.max_lines;
  if (lease.max_rate != 0) object["max_rate"] = lease.max_rate;
  if (lease.sample > 1) object["sample"] = lease.sample;
  if (lease.to != 0) {
    json::array& list = object["to"].emplace_array();
    for (const diag::RouteName& output : diag::kRouteNames) {
      if ((lease.to & output.route) != 0) list.emplace_back(output.name);
    }
  }
  if (!lease.taken_back.empty()) {
    json::array& list = object["taken_back"].emplace_array();
    for (const diag::Lease::TakenBack& one : lease.taken_back) {
      list.emplace_back(json::object{{"rule", text(one.rule)}, {"lines_per_s", one.lines_per_s}});
    }
  }
  return object;
}

Answer debug_tags(const Call& call) {
  json::object object = versioned();
  json::array& list = object["tags"].emplace_array();
  for (const diag::TagState& tag : call.target.debug_tags()) {
    const char* state = !tag.on ? "off" : tag.clients_only ? "on for clients" : "on";
    list.emplace_back(
        json::object{{"tag", text(tag.name)}, {"state", state}, {"sites", tag.sites}, {"hits", tag.hits}});
  }
  return give(200, std::move(object));
}

// The filter that a lease for all clients would widen; empty: none.
std::string narrowed_by(const DebugState& state) {
  if (state.base.mode == diag::Mode::kOnForClients) {
    return fmt::format("proxy.config.diags.debug.enabled 2 (client_ip '{}')", state.base.client_ip);
  }
  for (const diag::Lease& lease : state.leases) {
    if (!lease.client_ip.empty() && lease.kind == diag::LeaseKind::kPrint) {
      return fmt::format("lease {} (client_ip '{}')", lease.id, lease.client_ip);
    }
  }
  return {};
}

// What enable, preview and follow have in common. "rules" may be several; each is one or more rules.
diag::LeaseRequest lease_request(const Call& call) {
  diag::LeaseRequest request{
      .tags = call.member("tags"), .client_ip = call.member("client_ip"), .append = call.flag("append")};
  for (const std::string& rule : call.list("rules")) request.rules += (request.rules.empty() ? "" : "; ") + rule;
  request.owner = call.peer;
  request.reason = call.member("reason");
  request.max_lines = call.number("max_lines").value_or(0);
  request.replaces = call.number("replaces").value_or(0);
  request.max_rate = call.number("max_rate").value_or(0);
  request.sample = static_cast<std::uint32_t>(std::min<std::uint64_t>(call.number("sample").value_or(1), diag::kSampleMost + 1));
  if (auto given = call.number("for_ms")) {
    constexpr std::uint64_t kMost = 1'000'000'000'000;
    if (*given != 0) request.duration = milliseconds(static_cast<std::int64_t>(std::min(*given, kMost)));
  } else {
    request.duration = call.target.debug_lease_default();
  }
  return request;
}

// The outputs that "to" names. Errors: the name that is none.
tl::expected<diag::RouteBits, std::string> outputs(const std::vector<std::string>& names) {
  diag::RouteBits bits = 0;
  for (const std::string& name : names) {
    auto known = std::find_if(std::begin(diag::kRouteNames), std::end(diag::kRouteNames), [&](const auto& one) { return one.name == name; });
    if (known == std::end(diag::kRouteNames)) return tl::unexpected(name);
    bits = static_cast<diag::RouteBits>(bits | known->route);
  }
  return bits;
}

std::optional<Answer> refuse_empty(const Call& call, const diag::LeaseRequest& request) {
  if (!call.content.contains("tags") && !call.content.contains("rules")) {
    return refuse(400, {{.what = fmt::format("{} needs the member 'tags' or 'rules'", call.request.path)}});
  }
  if (call.content.contains("client_ip") && request.client_ip.empty()) {
    return refuse(400, {{.what = "client_ip is empty; leave it out to print for all clients", .where = "client_ip"}});
  }
  return std::nullopt;
}

Answer enabled_answer(const Call& call, const Enabled& enabled, const std::string& tags) {
  json::object object = versioned();
  object["lease"] = describe(enabled.lease);
  object["tags_on"] = texts(enabled.tags_on);
  object["sites_on"] = enabled.sites_on;
  if (enabled.tags_on.empty()) {
    std::vector<std::string> names;
    for (diag::TagState& tag : call.target.debug_tags()) names.push_back(std::move(tag.name));
    object["near"] = texts(hint::near_pattern(tags, names));
  }
  json::array& list = object["lines_go_to"].emplace_array();
  for (const Destination& destination : enabled.destinations) {
    json::object& one = list.emplace_back(json::object{{"kind", text(destination.kind)}}).get_object();
    if (!destination.path.empty()) one["path"] = text(destination.path);
  }
  return give(200, std::move(object));
}

std::string in_words(const diag::Lease& lease) {
  return fmt::format("tags '{}', rules '{}', {}", lease.tags, lease.rules,
                     lease.client_ip.empty() ? "all clients" : "clients " + lease.client_ip);
}

Answer debug_enable(const Call& call) {
  diag::LeaseRequest request = lease_request(call);
  if (auto refused = refuse_empty(call, request)) return std::move(*refused);
  if (call.content.contains("max_rate") && (request.max_rate == 0 || request.max_rate > diag::kMaxRateMost)) {
    return refuse(422, {{.what = fmt::format("{} lines a second are out of range; expected 1 to {}", request.max_rate,
                                             diag::kMaxRateMost),
                         .where = "max_rate"}});
  }
  if (request.sample == 0 || request.sample > diag::kSampleMost) {
    return refuse(422, {{.what = fmt::format("one in {} transactions is out of range; expected 1 to {}",
                                             call.number("sample").value_or(0), diag::kSampleMost),
                         .where = "sample"}});
  }
  if (auto to = outputs(call.list("to"))) {
    request.to = *to;
  } else {
    return refuse(422, {{.what = fmt::format("\"{}\" is no output; expected stdout, stderr, text, binary, json, syslog or journald", to.error()),
                         .where = "to"}});
  }
  bool all_clients = call.flag("all_clients");
  if (all_clients && !request.client_ip.empty()) {
    return refuse(400, {{.what = "client_ip and all_clients contradict each other", .where = "client_ip"}});
  }
  if (request.client_ip.empty() && !all_clients) {
    std::string filter = narrowed_by(call.target.debug_state());
    if (!filter.empty()) {
      return refuse(409, {{.what = fmt::format("debug output is limited to some clients by {}; name the clients "
                                               "(client_ip), or say that it is for all (all_clients)",
                                               filter),
                           .where = "client_ip"}});
    }
  }

  auto enabled = call.target.debug_enable(request);
  if (!enabled) return refuse(422, {enabled.error()});
  Answer done = enabled_answer(call, *enabled, request.tags);
  done.change = fmt::format("opened lease {}: {}", enabled->lease.id, in_words(enabled->lease));
  if (!request.reason.empty()) done.change += fmt::format(", reason '{}'", request.reason);
  return done;
}

Answer debug_status(const Call& call) {
  json::object object = versioned();
  object["status"] = describe(call.target.debug_status());
  return give(200, std::move(object));
}

Answer debug_disable(const Call& call) {
  auto disabled = call.target.debug_disable();
  if (!disabled) return refuse(422, {disabled.error()});
  json::object object = versioned();
  object["leases_ended"] = disabled->leases_ended;
  object["enabled_before"] = describe(disabled->enabled_before);
  Answer done = give(200, std::move(object));
  done.change =
      fmt::format("switched debug off; leases ended: {}; {} was '{}' ({})", disabled->leases_ended,
                  disabled->enabled_before.name, disabled->enabled_before.value, disabled->enabled_before.source);
  return done;
}

Answer debug_leases(const Call& call) {
  json::object object = versioned();
  json::array& list = object["leases"].emplace_array();
  for (const diag::Lease& lease : call.target.debug_state().leases) list.emplace_back(describe(lease));
  return give(200, std::move(object));
}

Answer debug_end(const Call& call) {
  auto ended = call.target.debug_end(call.number("id").value_or(0));
  if (!ended) return refuse(422, {ended.error()});
  json::object object = versioned();
  object["lease"] = describe(*ended);
  Answer done = give(200, std::move(object));
  done.change = fmt::format("ended lease {} after {} lines", ended->id, ended->lines);
  return done;
}

// A number of a query. Empty text: none.
tl::expected<std::uint32_t, Error> query_number(const Call& call, const char* name, std::uint32_t otherwise) {
  std::string text = call.optional(name);
  if (text.empty()) return otherwise;
  std::uint32_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size()) return value;
  return tl::unexpected(Error{.what = fmt::format("'{}' is no number", text), .where = name});
}

const char* words(diag::SiteIs state) {
  switch (state) {
    case diag::SiteIs::kOn:
      return "on";
    case diag::SiteIs::kOnForClients:
      return "on for clients";
    case diag::SiteIs::kCounted:
      return "counted";
    case diag::SiteIs::kRecorded:
      return "recorded";
    default:
      return "off";
  }
}

json::object describe(const diag::SiteState& site) {
  json::object object{{"id", fmt::format("{:016x}", site.id)},
                      {"module", text(site.module)},
                      {"file", text(site.file)},
                      {"line", site.line},
                      {"function", text(site.function)},
                      {"tag", text(site.tag)},
                      {"format", text(site.format)},
                      {"state", site.loaded ? words(site.state) : "unloaded"},
                      {"hits", site.hits}};
  if (site.at_run_time) object["at_run_time"] = true;
  if (!site.last_line.empty()) object["last_line"] = text(site.last_line);
  if (!site.why.empty()) {
    json::array& why = object["why"].emplace_array();
    for (const diag::SiteReason& reason : site.why) {
      json::object& one =
          why.emplace_back(json::object{{"source", text(reason.source)}, {"on", reason.on}}).get_object();
      if (!reason.decided.empty()) one["decided"] = text(reason.decided);
      if (!reason.nearest.empty()) one["nearest"] = text(reason.nearest);
    }
  }
  return object;
}

// A switch of a query: "1", or not there.
Answer debug_sites(const Call& call) {
  diag::SiteQuery query{.tags = call.optional("tags"),
                        .file = call.optional("file"),
                        .function = call.optional("function"),
                        .module = call.optional("module"),
                        .text = call.optional("text")};
  for (auto [name, into] : {std::pair{"on", &query.on}, {"unloaded", &query.unloaded}, {"why", &query.why}}) {
    std::string value = call.optional(name);
    if (!value.empty() && value != "1")
      return refuse(400, {{.what = fmt::format("{} is 1, or left out", name), .where = name}});
    *into = !value.empty();
  }
  auto after = query_number(call, "after", 0), limit = query_number(call, "limit", diag::kSitesPerAnswerMax);
  for (const auto& number : {after, limit}) {
    if (!number) return refuse(400, {number.error()});
  }
  query.after = *after;
  query.limit = *limit;
  auto sites = call.target.debug_sites(query);
  if (!sites) return refuse(422, {sites.error()});
  json::object object = versioned();
  json::array& list = object["sites"].emplace_array();
  for (const diag::SiteState& site : sites->sites) list.emplace_back(describe(site));
  if (sites->next != 0) object["next"] = sites->next;
  return give(200, std::move(object));
}

Answer debug_preview(const Call& call) {
  diag::LeaseRequest request = lease_request(call);
  if (auto refused = refuse_empty(call, request)) return std::move(*refused);
  auto enabled = call.target.debug_preview(request);
  if (!enabled) return refuse(422, {enabled.error()});
  return enabled_answer(call, *enabled, request.tags);
}

json::array describe(const std::vector<diag::PreviewRow>& rows) {
  json::array list;
  for (const diag::PreviewRow& row : rows) {
    list.emplace_back(json::object{{"name", text(row.name)}, {"lines", row.lines}, {"bytes", row.bytes}});
  }
  return list;
}

Answer debug_preview_end(const Call& call) {
  auto preview = call.target.debug_preview_end(call.number("id").value_or(0));
  if (!preview) return refuse(422, {preview.error()});
  json::object object = versioned();
  object["seconds"] = preview->time.count();
  object["lines"] = preview->lines;
  object["bytes"] = preview->bytes;
  object["core_share"] = preview->core_share;
  object["tags"] = describe(preview->tags);
  object["sites"] = describe(preview->sites);
  return give(200, std::move(object));
}

Answer debug_follow(const Call& call) {
  FollowRequest request{lease_request(call), call.member("host"), call.member("path"), call.member("method"), call.member("status")};
  constexpr std::uint64_t kMostMs = 1'000'000'000;
  if (auto ms = call.number("slower_than_ms")) request.slower_than = milliseconds(static_cast<std::int64_t>(std::min(*ms, kMostMs)));
  request.count = call.number("next").value_or(1);
  if (call.content.contains("status") && request.status.empty()) {
    return refuse(400, {{.what = "status is empty; leave it out to follow whatever the answer is", .where = "status"}});
  }
  if (auto refused = refuse_empty(call, request.lease)) return std::move(*refused);
  auto lease = call.target.debug_follow(request);
  if (!lease) return refuse(422, {lease.error()});
  json::object object = versioned();
  object["lease"] = describe(*lease);
  Answer done = give(200, std::move(object));
  done.change = fmt::format("opened lease {} to follow the next {}: {}, host '{}', path '{}', method '{}', status '{}'", lease->id,
                            request.count == 1 ? std::string("transaction") : fmt::format("{} transactions", request.count),
                            in_words(*lease), request.host, request.path, request.method, request.status);
  if (request.slower_than) done.change += fmt::format(", slower than {} ms", request.slower_than->count());
  return done;
}

Answer debug_followed(const Call& call) {
  auto id = query_number(call, "id", 0);
  if (!id) return refuse(400, {id.error()});
  auto followed = call.target.debug_followed(*id);
  if (!followed) return refuse(422, {followed.error()});
  constexpr const char* kStates[] = {"waiting", "under way", "ended", "time is up"};
  json::object object = versioned();
  object["state"] = kStates[static_cast<std::size_t>(followed->state)];
  if (followed->transaction != 0) object["transaction"] = followed->transaction;
  object["lines"] = text(followed->lines);
  object["lines_lost"] = followed->lines_lost;
  json::array& list = object["transactions"].emplace_array();
  for (const Followed::Transaction& one : followed->transactions) {
    list.emplace_back(json::object{{"id", one.id}, {"status", one.status}, {"us", one.time.count()}});
  }
  object["given_up"] = followed->given_up;
  return give(200, std::move(object));
}

}  // namespace

std::vector<Route> debug_routes() {
  using enum json::kind;
  const std::vector<Member> lease{{"tags", string, false},
                                  {"rules", array, false},
                                  {"client_ip", string, false},
                                  {"for_ms", int64, false},
                                  {"reason", string, false}};
  auto with = [&lease](std::vector<Member> more) {
    more.insert(more.begin(), lease.begin(), lease.end());
    return more;
  };
  return {
      {"GET", "/v1/debug/tags", "", {}, debug_tags},
      {"GET", "/v1/debug/status", "", {}, debug_status},
      {"GET",
       "/v1/debug/sites",
       "",
       {},
       debug_sites,
       {"tags", "file", "function", "module", "text", "on", "unloaded", "why", "after", "limit"}},
      {"POST", "/v1/debug/enable", "",
       with({{"append", bool_, false},
             {"replaces", int64, false},
             {"all_clients", bool_, false},
             {"max_lines", int64, false},
             {"max_rate", int64, false},
             {"sample", int64, false},
             {"to", array, false}}),
       debug_enable},
      {"POST", "/v1/debug/disable", "", {}, debug_disable},
      {"GET", "/v1/debug/leases", "", {}, debug_leases},
      {"POST", "/v1/debug/end", "", {{"id", int64, true}}, debug_end},
      {"POST", "/v1/debug/preview", "", with({}), debug_preview},
      {"POST", "/v1/debug/preview/end", "", {{"id", int64, true}}, debug_preview_end},
      {"POST", "/v1/debug/follow", "",
       with({{"host", string, false},
             {"path", string, false},
             {"method", string, false},
             {"status", string, false},
             {"slower_than_ms", int64, false},
             {"next", int64, false}}),
       debug_follow},
      {"GET", "/v1/debug/follow", "id", {}, debug_followed},
  };
}

}  // namespace telltale::control
