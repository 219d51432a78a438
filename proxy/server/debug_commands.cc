// SPDX-License-Identifier: Apache-2.0
// What the control socket may do with debug output. The rest of the Server is in server.cc.
#include <algorithm>
#include <bitset>

#include <boost/regex.hpp>
#include <fmt/format.h>

#include <telltale/diag/capture.h>
#include <telltale/diag/debug_control.h>
#include <telltale/diag/level.h>
#include <telltale/diag/output.h>

#include "config/address_set.h"
#include "http/authority.h"
#include "http/request_head.h"
#include "http/token.h"
#include "server/server.h"
#include "server/settings.h"

namespace telltale::server {
namespace {

using config::Record;

control::Error to_error(const diag::Refusal& refusal, std::string where) {
  return {refusal.what, refusal.offset, std::move(where)};
}

// Finds out which argument is wrong: the library's refusal of a whole request does not say. Nothing: it is
// none of them.
std::optional<control::Error> check(const diag::LeaseRequest& request) {
  if (!request.tags.empty() || request.rules.empty()) {
    if (auto refusal = diag::check_tag_pattern(request.tags)) return to_error(*refusal, "tags");
  }
  if (auto refusal = diag::check_rules(request.rules)) return to_error(*refusal, "rules");
  if (!request.client_ip.empty()) {
    if (auto refusal = diag::check_client_list(request.client_ip)) return to_error(*refusal, "client_ip");
  }
  return std::nullopt;
}

// The host of a transaction to follow; its port counts where it is said.
struct WantedHost {
  http::Authority authority;  // empty: any
  bool with_port = false;

  static std::optional<WantedHost> parse(std::string_view text) {
    WantedHost wanted;
    if (text.empty()) return wanted;
    if (!wanted.authority.parse(text)) return std::nullopt;
    wanted.with_port = text.rfind(':') != std::string_view::npos && text.back() != ']';
    return wanted;
  }
  bool matches(const http::Authority& asked) const {
    if (authority.empty()) return true;
    return authority.host() == asked.host() && (!with_port || authority.port() == asked.port());
  }
};

// "5xx,404,none", one bit each, 0 for none.
tl::expected<std::bitset<600>, control::Error> parse_statuses(std::string_view text) {
  std::bitset<600> statuses;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string_view item = text.substr(at, end - at);
    auto is_digit = [&](std::size_t i) { return item[i] >= '0' && item[i] <= '9'; };
    const bool is_class = item.size() == 3 && item.substr(1) == "xx";
    const bool is_code = item.size() == 3 && is_digit(1) && is_digit(2);
    if (item == "none") {
      statuses.set(0);
    } else if ((is_class || is_code) && item[0] >= '1' && item[0] <= '5') {
      const std::size_t hundreds = static_cast<std::size_t>(item[0] - '0') * 100;
      for (std::size_t i = 0; is_class && i < 100; ++i) statuses.set(hundreds + i);
      if (is_code) statuses.set(hundreds + static_cast<std::size_t>(item[1] - '0') * 10 + static_cast<std::size_t>(item[2] - '0'));
    } else {
      return tl::unexpected(control::Error{
          fmt::format("\"{}\" is no status; expected a code from 100 to 599, a class from 1xx to 5xx, or none", item), at, "status"});
    }
    at = end + 1;
  }
  return statuses;
}

tl::expected<txn::Follow::Wanted, control::Error> wanted(const control::FollowRequest& request) {
  txn::Follow::Wanted wanted;
  if (!request.status.empty()) {
    auto statuses = parse_statuses(request.status);
    if (!statuses) return tl::unexpected(std::move(statuses.error()));
    wanted.statuses = *statuses;
  }
  constexpr std::chrono::hours kSlowestMost{1};
  if (request.slower_than && (request.slower_than->count() <= 0 || *request.slower_than > kSlowestMost)) {
    return tl::unexpected(control::Error{
        fmt::format("{} ms is out of range; expected 1 ms to 1 h", request.slower_than->count()), {}, "slower_than_ms"});
  }
  wanted.slower_than = request.slower_than;
  if (request.count == 0 || request.count > control::kFollowedMost) {
    return tl::unexpected(control::Error{
        fmt::format("{} transactions are out of range; expected 1 to {}", request.count, control::kFollowedMost), {}, "next"});
  }
  wanted.count = static_cast<unsigned>(request.count);
  return wanted;
}

// How long a transaction's lines are held: longer than what is asked for takes.
constexpr std::chrono::milliseconds kHeldAtLeast = std::chrono::seconds{60};

// What a worker asks of every request while somebody waits for one.
struct Matcher {
  config::AddressSet clients;
  WantedHost host;
  std::string method;
  std::optional<boost::regex> path;

  bool operator()(const http::RequestHead& request, const diag::Client* client) const {
    if (!clients.empty() && (client == nullptr || !clients.contains(client->address))) return false;
    if (!host.matches(request.authority)) return false;
    if (!method.empty() && !http::equal_nocase(method, request.method_text)) return false;
    if (!path) return true;
    try {
      return boost::regex_search(request.target.begin(), request.target.end(), *path);
    } catch (const std::runtime_error&) {  // Boost.Regex bounds the work of a match
      return false;
    }
  }
};

}  // namespace

// As 'ttctl debug disable', for when the control socket is gone.
void Server::debug_off_on_signal() {
  auto disabled = debug_disable();
  diag::note("SIGUSR1: switched debug off; leases ended: {}; {} was '{}'", disabled ? disabled->leases_ended : 0,
             config::name(Record::kDiagsDebugEnabled), disabled ? disabled->enabled_before.value : "?");
}

control::DebugState Server::debug_state() { return {diag::base(), diag::leases()}; }

std::vector<diag::TagState> Server::debug_tags() { return diag::tags(); }

std::optional<std::chrono::milliseconds> Server::debug_lease_default() {
  std::int64_t seconds = records_.integer(Record::kDebugLeaseDuration);
  if (seconds == 0) return std::nullopt;
  return std::chrono::seconds{seconds};
}

control::Enabled Server::enabled(diag::OpenedLease opened) const {
  control::Enabled enabled{std::move(opened.lease), std::move(opened.tags_on), opened.sites_on, {}};
  const diag::OutputConfig output = output_config(records_, log_dir_, enabled.lease.to);
  const diag::RouteBits to = enabled.lease.to != 0 ? enabled.lease.to : output.routes[static_cast<std::size_t>(diag::Level::kDebug)];
  auto add = [&](diag::Route route, const char* kind, const std::string& path = {}) {
    if ((to & route) != 0) enabled.destinations.push_back({kind, path});
  };
  add(diag::kToStdout, "stdout");
  add(diag::kToStderr, "stderr");
  add(diag::kToLogFile, "file", output.log_file);
  add(diag::kToBinary, "binary", output.binary_file);
  add(diag::kToJson, "json", output.json_file);
  add(diag::kToSyslog, "syslog", output.syslog_socket);
  add(diag::kToJournald, "journald", output.journald_socket);
  return enabled;
}

control::Result<control::Enabled> Server::debug_enable(const diag::LeaseRequest& request) {
  if (auto error = check(request)) return tl::unexpected(std::move(*error));
  // Before the first line that is for them.
  if ((request.to & ~outputs_of_leases_) != 0) {
    auto set = configure_output(records_, static_cast<diag::RouteBits>(outputs_of_leases_ | request.to));
    if (!set) return tl::unexpected(control::Error{set.error(), {}, "to"});
  }
  auto opened = diag::open_lease(request);
  leases_changed();
  if (!opened) return tl::unexpected(to_error(opened.error(), {}));
  return enabled(std::move(*opened));
}

control::Result<control::Disabled> Server::debug_disable() {
  control::Disabled disabled{0, record(Record::kDiagsDebugEnabled)};
  // First what cannot fail: whatever becomes of the record, nothing prints.
  disabled.leases_ended = diag::all_off();
  let_follow_go();
  leases_changed();
  if (records_.integer(Record::kDiagsDebugEnabled) == 0) return disabled;
  auto off = records_.with(Record::kDiagsDebugEnabled, "0", config::Source::runtime());
  if (!off) return tl::unexpected(control::Error{config::to_string(off.error()), {}, {}});
  if (auto applied = apply(*off, remap_); !applied) return tl::unexpected(applied.error());
  return disabled;
}

control::Result<diag::Lease> Server::debug_end(std::uint64_t lease) {
  auto ended = diag::end_lease(lease);
  if (!ended) return tl::unexpected(control::Error{fmt::format("no lease {} is open", lease), {}, "id"});
  let_follow_go();
  leases_changed();
  return std::move(*ended);
}

control::Result<diag::SiteList> Server::debug_sites(const diag::SiteQuery& query) {
  auto list = diag::sites(query);
  if (!list) return tl::unexpected(to_error(list.error(), list.error().offset ? "tags" : ""));
  return std::move(*list);
}

control::Result<control::Enabled> Server::debug_preview(const diag::LeaseRequest& request) {
  if (auto error = check(request)) return tl::unexpected(std::move(*error));
  auto opened = diag::begin_preview(request);
  if (!opened) return tl::unexpected(to_error(opened.error(), {}));
  leases_changed();
  return enabled(std::move(*opened));
}

control::Result<diag::Preview> Server::debug_preview_end(std::uint64_t lease) {
  auto preview = diag::end_preview(lease);
  if (!preview) return tl::unexpected(to_error(preview.error(), "id"));
  leases_changed();
  return std::move(*preview);
}

control::Result<diag::Lease> Server::debug_follow(const control::FollowRequest& request) {
  if (auto error = check(request.lease)) return tl::unexpected(std::move(*error));
  if (shared_.follow.now().state != txn::Follow::State::kNobodyWaits) {
    return tl::unexpected(control::Error{
        fmt::format("lease {} follows a transaction already, one at a time; 'ttctl debug end {}' ends it",
                    shared_.follow.now().lease, shared_.follow.now().lease), {}, {}});
  }
  auto clients = config::AddressSet::parse(request.lease.client_ip);
  if (!clients) return tl::unexpected(control::Error{clients.error(), {}, "client_ip"});
  auto host = WantedHost::parse(request.host);
  if (!host) {
    return tl::unexpected(control::Error{
        fmt::format("\"{}\" is not a host; expected NAME, ADDRESS or [IPv6 ADDRESS], and :PORT where it matters", request.host), {}, "host"});
  }
  if (!request.method.empty() && !http::is_token(request.method)) {
    return tl::unexpected(control::Error{fmt::format("\"{}\" is not a method; expected a name such as GET", request.method), {}, "method"});
  }
  Matcher matcher{std::move(*clients), std::move(*host), request.method, {}};
  try {
    if (!request.path.empty()) matcher.path.emplace(request.path);
  } catch (const boost::regex_error& e) {
    return tl::unexpected(
        control::Error{"this is not a regular expression", static_cast<std::size_t>(e.position()), "path"});
  }
  auto of_these = wanted(request);
  if (!of_these) return tl::unexpected(std::move(of_these.error()));
  diag::LeaseRequest lease = request.lease;
  lease.held = !of_these->streams();
  lease.kind = diag::LeaseKind::kFollow;
  lease.client_ip.clear();  // the matcher has them
  auto opened = diag::open_lease(lease);
  if (!opened) return tl::unexpected(to_error(opened.error(), {}));
  opened->lease.client_ip = request.lease.client_ip;
  diag::clear_capture();
  if (lease.held) diag::hold_begin(std::max(kHeldAtLeast, 2 * request.slower_than.value_or(std::chrono::milliseconds{0})));
  shared_.follow.begin(opened->lease.id, std::move(matcher), std::move(*of_these));
  leases_changed();
  return std::move(opened->lease);
}

control::Result<control::Followed> Server::debug_followed(std::uint64_t lease) {
  using State = txn::Follow::State;
  const txn::Follow::Now now = shared_.follow.now();
  const bool open = now.lease == lease;
  if (lease == 0 || (!open && last_followed_.lease != lease)) {
    return tl::unexpected(control::Error{fmt::format("no lease {} follows a transaction", lease), {}, "id"});
  }
  control::Followed followed;
  followed.transaction = open ? now.transaction : last_followed_.transaction;
  for (const txn::Follow::Shown& one : open ? now.shown : last_followed_.shown) {
    followed.transactions.push_back({one.transaction, one.end.status, one.end.time});
  }
  if (!open) {
    followed.state = control::Followed::State::kTimeIsUp;
  } else if (now.state == State::kUnderWay) {
    followed.state = control::Followed::State::kUnderWay;
  } else if (now.state == State::kEnded) {
    followed.state = control::Followed::State::kEnded;
  }
  // Its last lines may still be on their way.
  if (!open || now.state == State::kEnded) {
    diag::flush_output(std::chrono::seconds{1});
    diag::flush_held(std::chrono::seconds{1});
  }
  followed.given_up = open ? diag::held_counts().transactions_given_up : given_up_;
  diag::Captured captured = diag::take_captured();
  followed.lines = std::move(captured.lines);
  followed.lines_lost = captured.lines_lost;
  if (open && now.state == State::kEnded) {
    (void)diag::end_lease(lease);
    let_follow_go();
    leases_changed();
  }
  return followed;
}

// Nobody follows any more where the lease is gone, whoever ended it.
void Server::let_follow_go() {
  txn::Follow::Now now = shared_.follow.now();
  if (now.state == txn::Follow::State::kNobodyWaits) return;
  for (const diag::Lease& lease : diag::leases()) {
    if (lease.id == now.lease) return;
  }
  last_followed_ = now;
  shared_.follow.stop();
  diag::capture_transaction(0);
  diag::flush_held(std::chrono::seconds{1});  // those that ended in time are shown
  given_up_ = diag::held_counts().transactions_given_up;
  diag::hold_end();
}

}  // namespace telltale::server
