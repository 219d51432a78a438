// SPDX-License-Identifier: Apache-2.0
// Requests as text, answers as JSON, without a socket.
#include "control/api.h"

#include <boost/json.hpp>
#include <catch2/catch.hpp>

#include "tests/unit/control/fake_target.h"

using namespace telltale::control;
namespace json = boost::json;

namespace {

json::object object_of(const Answer& answer) {
  json::object object = json::parse(answer.json).as_object();
  CHECK(object.at("version") == 1);
  return object;
}

std::string what_of(const Answer& answer) {
  return std::string(object_of(answer).at("errors").at(0).at("what").as_string());
}

}  // namespace

TEST_CASE("api: status keeps the order of sections and items, and full 64-bit counts", "[control][api]") {
  FakeTarget target;
  Answer got = answer(target, "GET", "/v1/status", "");
  CHECK(got.status == 200);
  CHECK(got.json ==
        "{\"version\":1,\"status\":{\"process\":{\"version\":\"0.1.0\",\"pid\":42},"
        "\"cache\":{\"hits\":18446744073709551615,\"full\":false}}}\n");
  CHECK(got.change.empty());
}

TEST_CASE("api: a record is read with its source, bytes that are not UTF-8 replaced", "[control][api]") {
  FakeTarget target;
  json::object got = object_of(answer(target, "GET", "/v1/config?name=proxy.config.diags.debug.tags", ""));
  CHECK(got.at("record").at("name") == "proxy.config.diags.debug.tags");
  CHECK(got.at("record").at("value") == "http|dns");
  CHECK(got.at("record").at("source") == "records.yaml:3");
  got = object_of(answer(target, "GET", "/v1/config?name=proxy.config.x", ""));
  CHECK(got.at("record").at("value") == "\xef\xbf\xbd\n");
}

TEST_CASE("api: an unknown record is refused with 422 and where", "[control][api]") {
  FakeTarget target;
  Answer got = answer(target, "GET", "/v1/config?name=proxy.config.none", "");
  CHECK(got.status == 422);
  CHECK(what_of(got) == "there is no such record");
  CHECK(object_of(got).at("errors").at(0).at("where") == "name");
  CHECK_FALSE(object_of(got).at("errors").at(0).as_object().contains("offset"));
}

TEST_CASE("api: a record is set, and the change is described for the log", "[control][api]") {
  FakeTarget target;
  Answer got = answer(target, "PUT", "/v1/config", R"({"name":"proxy.config.diags.debug.tags","value":"cache"})");
  CHECK(got.status == 200);
  CHECK(target.records["proxy.config.diags.debug.tags"] == "cache");
  CHECK(object_of(got).at("record").at("value") == "cache");
  CHECK(object_of(got).at("record").at("source") == "runtime");
  CHECK(got.change == "set proxy.config.diags.debug.tags to 'cache'");
}

TEST_CASE("api: a refused value comes with its offset, and nothing has changed", "[control][api]") {
  FakeTarget target;
  Answer got = answer(target, "PUT", "/v1/config", R"({"name":"proxy.config.diags.debug.tags","value":"("})");
  CHECK(got.status == 422);
  CHECK(object_of(got).at("errors").at(0).at("offset") == 1);
  CHECK(target.records["proxy.config.diags.debug.tags"] == "http|dns");
  CHECK(got.change.empty());
}

TEST_CASE("api: match lists records, and an empty list is an answer", "[control][api]") {
  FakeTarget target;
  json::object got = object_of(answer(target, "GET", "/v1/config/match?regex=debug", ""));
  CHECK(got.at("records").as_array().size() == 2);
  got = object_of(answer(target, "GET", "/v1/config/match?regex=none", ""));
  CHECK(got.at("records").as_array().empty());
  CHECK(answer(target, "GET", "/v1/config/match?regex=(", "").status == 422);
}

TEST_CASE("api: a record is described with type, range, default, value and source", "[control][api]") {
  FakeTarget target;
  CHECK(answer(target, "GET", "/v1/config/describe?regex=debug.tags", "").json ==
        "{\"version\":1,\"records\":[{\"name\":\"proxy.config.diags.debug.tags\",\"value\":\"http|dns\",\"source\":\"records.yaml:3\","
        "\"description\":\"Does x.\",\"type\":\"text\",\"range\":\"any\",\"default\":\"z\",\"change\":\"live\"}]}\n");
  CHECK(answer(target, "GET", "/v1/config/describe?regex=none", "").status == 422);
}

TEST_CASE("api: reload names what changed and what waits for a restart", "[control][api]") {
  FakeTarget target;
  json::object got = object_of(answer(target, "POST", "/v1/config/reload", ""));
  CHECK(got.at("changed").at(0) == "proxy.config.diags.debug.tags");
  CHECK(got.at("needs_restart").at(0) == "proxy.config.http.server_ports");
}

TEST_CASE("api: a refused reload lists every problem", "[control][api]") {
  FakeTarget target;
  target.reload_errors = {{.what = "not an integer", .where = "records.yaml:4:7"}, {.what = "no such file", .where = "remap.config"}};
  Answer got = answer(target, "POST", "/v1/config/reload", "{}");
  CHECK(got.status == 422);
  json::array errors = object_of(got).at("errors").as_array();
  REQUIRE(errors.size() == 2);
  CHECK(errors[0].at("where") == "records.yaml:4:7");
  CHECK(errors[1].at("what") == "no such file");
}

TEST_CASE("api: enable answers with lease, tags and where the lines go", "[control][api][debug]") {
  FakeTarget target;
  target.lease_default.reset();
  Answer got = answer(target, "POST", "/v1/debug/enable", R"({"tags":"http","append":true,"client_ip":"127.0.0.2"})", "uid 0 pid 7");
  CHECK(got.status == 200);
  REQUIRE(target.requests.size() == 1);
  CHECK(target.requests[0].tags == "http");
  CHECK(target.requests[0].client_ip == "127.0.0.2");
  CHECK(target.requests[0].append);
  CHECK(got.json ==
        "{\"version\":1,\"lease\":{\"id\":1,\"tags\":\"http\",\"client_ip\":\"127.0.0.2\",\"kind\":\"print\",\"owner\":\"uid 0 pid 7\","
        "\"opened\":\"1970-01-01T00:00:00Z\",\"lines\":0},\"tags_on\":[\"http\",\"http_hdrs\"],\"sites_on\":3,"
        "\"lines_go_to\":[{\"kind\":\"stderr\"},{\"kind\":\"file\",\"path\":\"/logs/diags.log\"}]}\n");
  CHECK(got.change == "opened lease 1: tags 'http', rules '', clients 127.0.0.2");
}

TEST_CASE("api: a pattern that matches nothing is taken, and near names are told", "[control][api][debug]") {
  FakeTarget target;
  Answer got = answer(target, "POST", "/v1/debug/enable", R"({"tags":"htpp"})");
  CHECK(got.status == 200);
  CHECK(object_of(got).at("tags_on").as_array().empty());
  CHECK(object_of(got).at("near").at(0) == "http");
  CHECK_FALSE(target.requests[0].append);
}

TEST_CASE("api: an invalid pattern is refused with its offset, and opens no lease", "[control][api][debug]") {
  FakeTarget target;
  Answer got = answer(target, "POST", "/v1/debug/enable", R"({"tags":"http|("})");
  CHECK(got.status == 422);
  CHECK(object_of(got).at("errors").at(0).at("where") == "tags");
  CHECK(object_of(got).at("errors").at(0).at("offset") == 6);
  CHECK(target.state.leases.empty());
}

TEST_CASE("api: output limited to some clients is widened to all only on explicit demand", "[control][api][debug]") {
  FakeTarget target;
  SECTION("by an open lease") {
    REQUIRE(answer(target, "POST", "/v1/debug/enable", R"({"tags":"http","client_ip":"127.0.0.2"})").status == 200);
  }
  SECTION("by mode 2") {
    target.state.base.mode = telltale::diag::Mode::kOnForClients;
    target.state.base.client_ip = "10.0.0.0/8";
  }
  std::size_t before = target.requests.size();
  Answer got = answer(target, "POST", "/v1/debug/enable", R"({"tags":"dns"})");
  CHECK(got.status == 409);
  CHECK(what_of(got).find("all_clients") != std::string::npos);
  CHECK(answer(target, "POST", "/v1/debug/enable", R"({"tags":"dns","append":true})").status == 409);
  CHECK(answer(target, "POST", "/v1/debug/enable", R"({"tags":"dns","all_clients":false})").status == 409);
  CHECK(target.requests.size() == before);
  CHECK(answer(target, "POST", "/v1/debug/enable", R"({"tags":"dns","append":true,"client_ip":"127.0.0.3"})").status == 200);
  CHECK(answer(target, "POST", "/v1/debug/enable", R"({"tags":"dns","all_clients":true})").status == 200);
}

TEST_CASE("api: an empty client_ip, and one beside all_clients, are refused", "[control][api][debug]") {
  FakeTarget target;
  CHECK(answer(target, "POST", "/v1/debug/enable", R"({"tags":"dns","client_ip":""})").status == 400);
  CHECK(answer(target, "POST", "/v1/debug/enable", R"({"tags":"dns","client_ip":"::1","all_clients":true})").status == 400);
  CHECK(target.requests.empty());
}

TEST_CASE("api: disable ends every lease and tells what was on before", "[control][api][debug]") {
  FakeTarget target;
  target.records["proxy.config.diags.debug.enabled"] = "1";
  target.state.leases = {{1, "http", ""}, {2, "dns", ""}};
  json::object got = object_of(answer(target, "POST", "/v1/debug/disable", ""));
  CHECK(got.at("leases_ended") == 2);
  CHECK(got.at("enabled_before").at("value") == "1");
  CHECK(got.at("enabled_before").at("source") == "-T");
}

TEST_CASE("api: tags are listed with state, sites and hits", "[control][api][debug]") {
  FakeTarget target;
  CHECK(answer(target, "GET", "/v1/debug/tags", "").json ==
        "{\"version\":1,\"tags\":[{\"tag\":\"dns\",\"state\":\"off\",\"sites\":3,\"hits\":7},"
        "{\"tag\":\"http\",\"state\":\"on for clients\",\"sites\":3,\"hits\":7},"
        "{\"tag\":\"http_hdrs\",\"state\":\"on\",\"sites\":3,\"hits\":7}]}\n");
}

TEST_CASE("api: the log is opened anew, held up or refused, and its status has sections", "[control][api]") {
  FakeTarget target;
  Answer reopened = answer(target, "POST", "/v1/log/reopen", "");
  CHECK(reopened.json == "{\"version\":1,\"path\":\"/logs/diags.log\",\"done\":true}\n");
  CHECK(reopened.change == "opened /logs/diags.log anew");
  target.log_held_up = true;
  CHECK(answer(target, "POST", "/v1/log/reopen", "").json.find("\"done\":false") != std::string::npos);
  target.log_reopens = false;
  Answer refused = answer(target, "POST", "/v1/log/reopen", "");
  CHECK(refused.status == 422);
  CHECK(refused.change.empty());
  CHECK(refused.json.find("Permission denied") != std::string::npos);
  CHECK(answer(target, "GET", "/v1/log/reopen", "").status == 405);
  CHECK(answer(target, "GET", "/v1/debug/status", "").json ==
        "{\"version\":1,\"status\":{\"sinks\":{\"stderr\":\"0 lines\"}}}\n");
}

TEST_CASE("api: stop is left to the server, after the answer", "[control][api]") {
  FakeTarget target;
  Answer got = answer(target, "POST", "/v1/stop", "");
  CHECK(got.status == 200);
  CHECK(got.stop);
  CHECK(target.stops == 0);
}

TEST_CASE("api: an unknown path is 404, a wrong method 405 with the right ones", "[control][api]") {
  FakeTarget target;
  for (const char* path : {"/", "/v1", "/v1/", "/v1/status/", "/v2/status", "/v1/Status", "/v1/config?", "/v1//status"}) {
    CAPTURE(path);
    CHECK(answer(target, "GET", path, "").status == (std::string(path) == "/v1/config?" ? 400 : 404));
  }
  Answer got = answer(target, "POST", "/v1/status", "");
  CHECK(got.status == 405);
  CHECK(got.allow == "GET");
  CHECK(answer(target, "DELETE", "/v1/config", "").allow == "GET, PUT");
  CHECK(answer(target, "GET", "/v1/stop", "").status == 405);
  CHECK(answer(target, "BREW", "/v1/stop", "").status == 405);
  CHECK(target.calls == 0);
}

TEST_CASE("api: missing, unknown, repeated and superfluous parameters are refused", "[control][api]") {
  FakeTarget target;
  for (const char* path : {"/v1/config", "/v1/config?nam=x", "/v1/config?name=x&more=y", "/v1/config?name=x&name=y",
                           "/v1/config?name", "/v1/config?name=%zz", "/v1/status?verbose=1", "/v1/config/match"}) {
    CAPTURE(path);
    CHECK(answer(target, "GET", path, "").status == 400);
  }
  CHECK(answer(target, "POST", "/v1/stop?now=1", "").status == 400);
  CHECK(target.calls == 0);
}

TEST_CASE("api: content that is not exactly what the path takes is refused", "[control][api]") {
  FakeTarget target;
  std::string deep = std::string(9, '[') + std::string(9, ']');
  for (std::string content :
       {std::string(), std::string("{"), std::string("null"), std::string("[]"), std::string("\"tags\""), std::string("{}"),
        std::string(R"({"tags":7})"), std::string(R"({"tags":null})"), std::string(R"({"tags":"a","client":"127.0.0.1"})"),
        std::string(R"({"tags":"a","append":"yes"})"), std::string(R"({"tags":"a","client_ip":["::1"]})"),
        std::string(R"({"tags":"a"}{"tags":"b"})"), std::string(R"({"tags":"a",})"), std::string("{\"tags\":\"\xff\"}"),
        std::string(R"({tags:"a"})"), std::string("\0", 1), "{\"tags\":" + deep + "}"}) {
    CAPTURE(content);
    Answer got = answer(target, "POST", "/v1/debug/enable", content);
    CHECK(got.status == 400);
    CHECK_FALSE(what_of(got).empty());
  }
  CHECK(answer(target, "PUT", "/v1/config", R"({"name":"a"})").status == 400);
  CHECK(answer(target, "POST", "/v1/stop", R"({"now":true})").status == 400);
  CHECK(answer(target, "POST", "/v1/stop", "[]").status == 400);
  CHECK(answer(target, "GET", "/v1/status", "{}").status == 400);
  CHECK(target.requests.empty());
  CHECK(target.calls == 0);
}

TEST_CASE("api: a daemon that throws is answered with 500", "[control][api]") {
  FakeTarget target;
  Answer got = answer(target, "GET", "/v1/config?name=throw", "");
  CHECK(got.status == 500);
  CHECK(what_of(got) == "the daemon failed: out of order");
}

TEST_CASE("api: bytes of a request never make the JSON of a refusal invalid", "[control][api]") {
  FakeTarget target;
  CHECK(what_of(answer(target, "GET", "/\xff\"\\\n", "")).find("there is no path") == 0);
  CHECK(what_of(answer(target, "\xff\"", "/v1/stop", "")).find("/v1/stop takes POST") == 0);
}
