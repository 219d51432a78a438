// SPDX-License-Identifier: Apache-2.0
#pragma once
// A daemon that does nothing: keeps a few records and leases, and notes what it was asked.
//
// Called on the server's thread; a test looks at it after an answer, which orders the two.

#include <algorithm>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "control/target.h"

namespace telltale::control {

struct FakeTarget : Target {
  std::map<std::string, std::string> records{{"proxy.config.diags.debug.enabled", "0"},
                                             {"proxy.config.diags.debug.tags", "http|dns"},
                                             {"proxy.config.x", "\xff\n"}};
  std::vector<std::string> tags{"dns", "http", "http_hdrs"};
  std::vector<Error> reload_errors;
  DebugState state;
  std::vector<diag::LeaseRequest> requests;
  std::vector<Destination> destinations{{"stderr"}, {"file", "/logs/diags.log"}};
  std::function<void()> on_stop;
  std::optional<std::chrono::milliseconds> lease_default = std::chrono::minutes(10);
  std::vector<diag::SiteState> sites;
  std::vector<diag::SiteQuery> site_queries;
  std::optional<FollowRequest> follow;
  int followed_asked = 0;
  std::uint64_t followed_lost = 0;
  std::vector<Followed::Transaction> followed;
  std::uint64_t followed_given_up = 0;
  std::vector<diag::Lease::TakenBack> taken_back;
  int stops = 0;
  int calls = 0;  // of anything that reads or changes

  Result<Record> config_get(const std::string& name) override {
    ++calls;
    if (name == "throw") throw std::runtime_error("out of order");
    auto found = records.find(name);
    if (found == records.end()) return tl::unexpected(Error{.what = "there is no such record", .where = "name"});
    return Record{name, found->second, "records.yaml:3"};
  }
  Result<Record> config_set(const std::string& name, const std::string& value) override {
    ++calls;
    if (value == "(") return tl::unexpected(Error{.what = "missing closing parenthesis", .offset = 1, .where = "value"});
    if (!records.contains(name)) return tl::unexpected(Error{.what = "there is no such record", .where = "name"});
    records[name] = value;
    return Record{name, value, "runtime"};
  }
  Result<std::vector<Record>> config_match(const std::string& regex) override {
    ++calls;
    if (regex == "(") return tl::unexpected(Error{.what = "missing closing parenthesis", .offset = 1, .where = "regex"});
    std::vector<Record> found;
    for (const auto& [name, value] : records) {
      if (name.find(regex) != std::string::npos) found.push_back({name, value, "default"});
    }
    return found;
  }
  Result<std::vector<Description>> config_describe(const std::string& name_or_regex) override {
    ++calls;
    std::vector<Description> found;
    for (const auto& [name, value] : records) {
      if (name.find(name_or_regex) == std::string::npos) continue;
      found.push_back({{name, value, "records.yaml:3"}, "Does x.", "text", "", "any", "z", true});
    }
    if (found.empty()) return tl::unexpected(Error{.what = "no record's name matches", .where = "regex"});
    return found;
  }
  tl::expected<Reloaded, std::vector<Error>> config_reload() override {
    ++calls;
    if (!reload_errors.empty()) return tl::unexpected(reload_errors);
    return Reloaded{{"proxy.config.diags.debug.tags"}, {"proxy.config.http.server_ports"}};
  }

  Status status() override {
    ++calls;
    return {{"process", {{"version", std::string("0.1.0")}, {"pid", std::uint64_t{42}}}},
            {"cache", {{"hits", std::uint64_t{18446744073709551615U}}, {"full", false}}}};
  }
  void stop() override {
    ++stops;
    if (on_stop) on_stop();
  }

  bool log_reopens = true, log_held_up = false;
  Result<LogReopened> log_reopen() override {
    ++calls;
    if (!log_reopens) return tl::unexpected(Error{.what = "log file /logs/diags.log cannot be opened: Permission denied"});
    return LogReopened{"/logs/diags.log", !log_held_up};
  }
  Status debug_status() override {
    ++calls;
    return {{"sinks", {{"stderr", std::string("0 lines")}}}};
  }

  DebugState debug_state() override { return state; }
  Result<Enabled> debug_enable(const diag::LeaseRequest& request) override {
    ++calls;
    requests.push_back(request);
    if (request.tags == "http|(") {
      return tl::unexpected(Error{.what = "missing closing parenthesis", .offset = 6, .where = "tags"});
    }
    if (!request.append) state.leases.clear();
    state.leases.push_back({.id = ++last_lease, .tags = request.tags, .client_ip = request.client_ip, .rules = request.rules,
                            .max_lines = request.max_lines, .owner = request.owner, .reason = request.reason,
                            .max_rate = request.max_rate, .sample = request.sample, .taken_back = taken_back});
    if (request.duration) state.leases.back().ends = std::chrono::steady_clock::now() + *request.duration;
    Enabled enabled{state.leases.back(), {}, 3, destinations};
    std::copy_if(tags.begin(), tags.end(), std::back_inserter(enabled.tags_on),
                 [&](const std::string& tag) { return tag.rfind(request.tags, 0) == 0; });
    return enabled;
  }
  Result<Disabled> debug_disable() override {
    ++calls;
    std::string& enabled = records["proxy.config.diags.debug.enabled"];
    Disabled disabled{state.leases.size(), {"proxy.config.diags.debug.enabled", enabled, "-T"}};
    state.leases.clear();
    enabled = "0";
    return disabled;
  }
  std::optional<std::chrono::milliseconds> debug_lease_default() override { return lease_default; }
  Result<diag::Lease> debug_end(std::uint64_t id) override {
    ++calls;
    for (auto at = state.leases.begin(); at != state.leases.end(); ++at) {
      if (at->id != id) continue;
      diag::Lease ended = *at;
      state.leases.erase(at);
      return ended;
    }
    return tl::unexpected(Error{.what = "no such lease is open", .where = "id"});
  }
  Result<diag::SiteList> debug_sites(const diag::SiteQuery& query) override {
    ++calls;
    site_queries.push_back(query);
    if (query.tags == "(") return tl::unexpected(Error{.what = "missing closing parenthesis", .offset = 1, .where = "tags"});
    diag::SiteList list;
    for (const diag::SiteState& site : sites) {
      if (site.number <= query.after) continue;
      if (list.sites.size() == query.limit) {
        list.next = list.sites.back().number;
        break;
      }
      list.sites.push_back(site);
    }
    return list;
  }
  Result<Enabled> debug_preview(const diag::LeaseRequest& request) override {
    ++calls;
    requests.push_back(request);
    if (request.tags == "busy") return tl::unexpected(Error{.what = "a preview is running; there is one at a time"});
    return Enabled{{.id = 9, .tags = request.tags}, {"http"}, 2, {}};
  }
  Result<diag::Preview> debug_preview_end(std::uint64_t id) override {
    ++calls;
    if (id != 9) return tl::unexpected(Error{.what = "no such preview", .where = "id"});
    return diag::Preview{std::chrono::seconds(2), 200, 20'000, {{"http", 200, 20'000}}, {{"http1/session.cc:40 (run)", 200, 20'000}}, 0.015};
  }
  Result<diag::Lease> debug_follow(const FollowRequest& request) override {
    ++calls;
    follow = request;
    return diag::Lease{.id = 11, .tags = request.lease.tags, .kind = diag::LeaseKind::kFollow};
  }
  Result<Followed> debug_followed(std::uint64_t id) override {
    ++calls;
    if (id != 11) return tl::unexpected(Error{.what = "no such lease", .where = "id"});
    using State = Followed::State;
    switch (followed_asked++) {
      case 0: return Followed{State::kWaiting};
      case 1: return Followed{State::kUnderWay, 345, "first\n", 0};
      default: return Followed{State::kEnded, 345, "second \x1b[1m\nthird\n", followed_lost, followed, followed_given_up};
    }
  }
  std::vector<diag::TagState> debug_tags() override {
    ++calls;
    std::vector<diag::TagState> states;
    for (const std::string& tag : tags) states.push_back({tag, tag != "dns", tag == "http", 3, 7});
    return states;
  }

 private:
  std::uint64_t last_lease = 0;
};

}  // namespace telltale::control
