// SPDX-License-Identifier: Apache-2.0
// The debug commands from end to end but for the daemon: ttctl against a server with a fake target.
#include <unistd.h>

#include <boost/json.hpp>
#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "control/api.h"
#include "control/ttctl/debug_render.h"
#include "control/ttctl/duration.h"
#include "control/ttctl/run.h"
#include "tests/unit/control/running_server.h"

using namespace telltale;
using namespace telltale::control;
using namespace std::chrono_literals;

namespace {

Outcome ask(const RunningServer& running, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"--control", running.path});
  return run(std::move(arguments), "");
}

}  // namespace

TEST_CASE("ttctl debug: a lease's rules, time, lines and reason reach the daemon, with who asked",
          "[control][ttctl][debug]") {
  RunningServer running;
  Outcome got = ask(running, {"debug", "enable", "--rule", "file=session.cc", "--rule=-text=closed; tag=http", "--for",
                              "30s", "--max-lines", "100", "--reason", "ticket 7"});
  CHECK(got.exit_status == kExitDone);
  REQUIRE(running.target.requests.size() == 1);
  const diag::LeaseRequest& request = running.target.requests[0];
  CHECK(request.tags.empty());
  CHECK(request.rules == "file=session.cc; -text=closed; tag=http");
  CHECK(request.duration == 30s);
  CHECK(request.max_lines == 100);
  CHECK(request.reason == "ticket 7");
  CHECK(request.owner == fmt::format("uid {} pid {}", ::getuid(), ::getpid()));
  CHECK(got.out.find("lease 1: rules file=session.cc; -text=closed; tag=http\nclients: all\nends: 30.0 s left, or "
                     "after 100 lines\n"
                     "reason: ticket 7\n") == 0);
}

TEST_CASE("ttctl debug: a lease that names no time gets the default, and 'forever' none", "[control][ttctl][debug]") {
  RunningServer running;
  REQUIRE(ask(running, {"debug", "enable", "--tags", "a"}).exit_status == kExitDone);
  REQUIRE(ask(running, {"debug", "enable", "--tags", "a", "--for", "forever"}).exit_status == kExitDone);
  CHECK(running.target.requests[0].duration == 10min);
  CHECK_FALSE(running.target.requests[1].duration);
}

TEST_CASE("ttctl debug: leases are shown whole, and one is ended by its number", "[control][ttctl][debug]") {
  RunningServer running;
  CHECK(ask(running, {"debug", "leases"}).out == "no lease is open\n");
  running.target.lease_default.reset();
  REQUIRE(
      ask(running, {"debug", "enable", "--tags", "http", "--rule", "-text=x", "--client-ip", "::1", "--max-lines", "9"})
          .exit_status == kExitDone);
  running.target.state.leases[0].owner = "uid 1 pid 2";
  running.target.state.leases[0].lines = 4;
  CHECK(ask(running, {"debug", "leases"}).out ==
        "lease 1: tags http, rules -text=x\n  clients  ::1\n  opened   1970-01-01T00:00:00Z\n  ends     until it is "
        "ended\n"
        "  lines    4 of 9\n  owner    uid 1 pid 2\n");
  CHECK(ask(running, {"debug", "end", "1"}).out == "ended lease 1: tags http, rules -text=x, after 4 lines\n");
  Outcome got = ask(running, {"debug", "end", "1"});
  CHECK(got.exit_status == kExitRefused);
  CHECK(got.err == "ttctl: refused: no such lease is open\n");
}

TEST_CASE("ttctl debug: 2,500 sites come in pages and are shown in order of module, file and line",
          "[control][ttctl][debug]") {
  RunningServer running;
  for (std::uint32_t i = 1; i <= 2500; ++i) {
    running.target.sites.push_back({.number = i,
                                    .id = i,
                                    .module = i % 2 == 0 ? "a.so" : "telltale",
                                    .file = "f.cc",
                                    .function = "run",
                                    .tag = "http",
                                    .format = "line",
                                    .line = 3000 - i,
                                    .hits = i});
  }
  Outcome got = ask(running, {"debug", "sites", "--tags", "http|dns", "--file", "*.cc", "--on", "--why"});
  REQUIRE(got.exit_status == kExitDone);
  CHECK(got.out.find("a.so\n  off                2500  f.cc:500 (run) [http] \"line\"\n") == 0);
  CHECK(got.out.find("2500 sites\n") != std::string::npos);
  CHECK(running.target.site_queries.size() == 3);
  CHECK(running.target.site_queries[2].after == 2000);
  CHECK(running.target.site_queries[2].tags == "http|dns");
  CHECK((running.target.site_queries[2].on && running.target.site_queries[2].why));
  Outcome as_json = ask(running, {"--json", "debug", "sites"});
  CHECK(boost::json::parse(as_json.out).at("sites").as_array().size() == 2500);
}

TEST_CASE("ttctl debug: a bad pattern of sites is refused with a caret", "[control][ttctl][debug]") {
  RunningServer running;
  Outcome got = ask(running, {"debug", "sites", "--tags", "("});
  CHECK(got.exit_status == kExitRefused);
  CHECK(got.err == "ttctl: refused: --tags: missing closing parenthesis (offset 1)\n  (\n   ^\n");
}

TEST_CASE("ttctl debug: why a site is on or off is shown below it", "[control][ttctl][debug]") {
  RunningServer running;
  running.target.sites.push_back(
      {.number = 1,
       .id = 0xabc,
       .module = "telltale",
       .file = "f.cc",
       .function = "run",
       .tag = "http",
       .format = "got {}\x1b",
       .line = 7,
       .state = diag::SiteIs::kOn,
       .hits = 5,
       .why = {{"base", false, "", "rule 1: file=g.cc, but not its file"}, {"lease 2", true, "tags: tag=http", ""}}});
  CHECK(ask(running, {"debug", "sites", "--why"}).out ==
        "telltale\n  on                    5  f.cc:7 (run) [http] \"got {}\\x1b\"\n"
        "      off by base: no rule matches\n        nearest: rule 1: file=g.cc, but not its file\n"
        "      on by lease 2: tags: tag=http\n1 sites\n");
}

TEST_CASE("ttctl debug: a preview is begun, waited for and ended", "[control][ttctl][debug]") {
  RunningServer running;
  Outcome got = ask(running, {"debug", "preview", "--tags", "http", "--for", "10ms"});
  CHECK(got.out ==
        "counted for 2.0 s, nothing was written\nall: 100 lines/s, 10.0 kB/s, about 1.50 % of a core\ntag http: 100 "
        "lines/s, 10.0 kB/s\n"
        "site http1/session.cc:40 (run): 100 lines/s, 10.0 kB/s\nsites that matched: 2\n");
  CHECK(running.target.requests[0].duration == 10ms);
  got = ask(running, {"debug", "preview", "--tags", "busy", "--for", "10ms"});
  CHECK(got.exit_status == kExitRefused);
}

TEST_CASE("ttctl debug: follow shows the transaction's lines, escaped, when it has ended", "[control][ttctl][debug]") {
  RunningServer running;
  running.target.followed_lost = 2;
  Outcome got = ask(running, {"debug", "follow", "--next", "--client", "10.0.0.0/8", "--host", "a.example", "--path",
                              "/x", "--method", "PUT"});
  CHECK(got.out ==
        "first\nsecond \\x1b[1m\nthird\n2 lines are missing here: more came than are kept\ntransaction 345: ended\n");
  REQUIRE(running.target.follow);
  CHECK(running.target.follow->host == "a.example");
  CHECK(running.target.follow->path == "/x");
  CHECK(running.target.follow->method == "PUT");
  CHECK(running.target.follow->lease.client_ip == "10.0.0.0/8");
  CHECK(running.target.follow->lease.tags == ".*");
}

TEST_CASE("ttctl debug: follow's conditions reach the daemon, and each transaction is named", "[control][ttctl][debug]") {
  RunningServer running;
  running.target.followed = {{345, 503, 812'400us}, {346, 0, 5ms}};
  running.target.followed_given_up = 3;
  Outcome got = ask(running, {"debug", "follow", "--status", "5xx,none", "--slower-than", "500", "--next", "2"});
  CHECK(got.out ==
        "first\nsecond \\x1b[1m\nthird\n"
        "3 transactions were not kept until their end: too many at a time, or too long\n"
        "transaction 345: answered 503 after 812.4 ms\ntransaction 346: no answer after 5.0 ms\n");
  REQUIRE(running.target.follow);
  CHECK(running.target.follow->status == "5xx,none");
  CHECK(running.target.follow->slower_than == 500ms);
  CHECK(running.target.follow->count == 2);
  REQUIRE(ask(running, {"debug", "follow", "--next", "--slower-than", "2s"}).exit_status == kExitDone);
  CHECK(running.target.follow->count == 1);
  CHECK(running.target.follow->slower_than == 2s);
  CHECK(running.target.follow->status.empty());
}

TEST_CASE("ttctl debug: a lease's rate and sample reach the daemon, and are shown", "[control][ttctl][debug]") {
  RunningServer running;
  running.target.taken_back = {{"-file=a.cc line=7", 5321.4}};
  Outcome got = ask(running, {"debug", "enable", "--tags", "a", "--max-rate", "1000/s", "--sample", "1/100"});
  REQUIRE(running.target.requests.size() == 1);
  CHECK(running.target.requests[0].max_rate == 1000);
  CHECK(running.target.requests[0].sample == 100);
  CHECK_THAT(got.out, Catch::Contains("\nrate: at most 1000 lines/s; above it, what writes the most is taken back\n"
                                      "sample: 1 of 100 transactions\n"));
  CHECK_THAT(ask(running, {"debug", "leases"}).out,
             Catch::Contains("  rate     at most 1000 lines/s\n  taken back  -file=a.cc line=7 (5321 lines/s)\n"
                             "  sample   1 of 100 transactions\n"));
  REQUIRE(ask(running, {"debug", "enable", "--tags", "a"}).exit_status == kExitDone);
  CHECK(running.target.requests[1].max_rate == 0);
  CHECK(running.target.requests[1].sample == 1);
}

TEST_CASE("api: rates and samples out of range are refused before the daemon is asked", "[control][api][debug]") {
  FakeTarget target;
  for (const char* content : {R"({"tags":"a","max_rate":0})", R"({"tags":"a","max_rate":1000000001})", R"({"tags":"a","sample":0})",
                              R"({"tags":"a","sample":1000001})", R"({"tags":"a","sample":4294967297})"}) {
    CAPTURE(content);
    Answer refused = answer(target, "POST", "/v1/debug/enable", content);
    CHECK(refused.status == 422);
    CHECK_THAT(refused.json, Catch::Contains("expected 1 to 10"));
  }
  CHECK(answer(target, "POST", "/v1/debug/follow", R"({"tags":"a","status":""})").status == 400);
  CHECK(target.requests.empty());
  CHECK_FALSE(target.follow);
}

TEST_CASE("api: numbers, lists and switches that are none are refused with a sentence", "[control][api][debug]") {
  FakeTarget target;
  for (const char* content :
       {R"({"tags":"a","for_ms":-1})", R"({"tags":"a","for_ms":1.5})", R"({"tags":"a","for_ms":"1"})",
        R"({"rules":"a"})", R"({"rules":[1]})", R"({"max_lines":3})"}) {
    CAPTURE(content);
    CHECK(answer(target, "POST", "/v1/debug/enable", content).status == 400);
  }
  for (const char* path : {"/v1/debug/sites?on=yes", "/v1/debug/sites?after=x", "/v1/debug/sites?limit=-1",
                           "/v1/debug/sites?bogus=1", "/v1/debug/follow", "/v1/debug/follow?id=x"}) {
    CAPTURE(path);
    CHECK(answer(target, "GET", path, "").status == 400);
  }
  CHECK(target.requests.empty());
  CHECK(target.site_queries.empty());
}

TEST_CASE("duration: a number above 0 and a unit, up to 1000 days", "[control][ttctl]") {
  CHECK(parse_duration("500ms") == 500);
  CHECK(parse_duration("30s") == 30'000);
  CHECK(parse_duration("5m") == 300'000);
  CHECK(parse_duration("2h") == 7'200'000);
  CHECK(parse_duration("1000d") == 86'400'000'000);
  for (const char* bad : {"", "0s", "5", "s", "-1s", "1.5s", "5 s", "5S", "5sec", "1001d", "99999999999999999999s"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_duration(bad));
  }
}
