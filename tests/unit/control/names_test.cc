// SPDX-License-Identifier: Apache-2.0
// Paths, queries and UTF-8: the parts that turn text into text.
#include <catch2/catch.hpp>

#include "control/default_path.h"
#include "control/peer.h"
#include "control/query.h"
#include "control/socket_path.h"
#include "control/utf8.h"

using namespace telltale::control;

TEST_CASE("default_control_path: lies in var below the configuration folder", "[control][path]") {
  CHECK(default_control_path(default_runtime_dir()) == "configs/demo/var/control.sock");
  CHECK(default_control_path(default_runtime_dir("/etc/telltale/")) == "/etc/telltale/var/control.sock");
  CHECK(default_control_path("/run/telltale") == "/run/telltale/control.sock");
  CHECK(default_control_path("") == "./control.sock");
}

TEST_CASE("refuse_socket_path: 107 bytes are taken, 108 are refused with path, length and limit", "[control][path]") {
  std::string path = "/" + std::string(105, 'a');
  CHECK_FALSE(refuse_socket_path(path));
  path += 'a';
  CHECK_FALSE(refuse_socket_path(path));
  path += 'a';
  std::string why = refuse_socket_path(path).value();
  CHECK(why.find(path + " is 108 bytes") != std::string::npos);
  CHECK(why.find("limit is 107") != std::string::npos);
}

TEST_CASE("refuse_socket_path: an empty path and a NUL byte are refused", "[control][path]") {
  CHECK(refuse_socket_path(""));
  CHECK(refuse_socket_path(std::string_view("a\0b", 3)));
}

TEST_CASE("socket_address: the longest path keeps its terminator", "[control][path]") {
  std::string path(kSocketPathBytesMax, 'p');
  CHECK(std::string(socket_address(path).sun_path) == path);
}

TEST_CASE("may_command: the daemon's user and root may, others may not", "[control][peer]") {
  CHECK(may_command(1000, 1000));
  CHECK(may_command(0, 1000));
  CHECK_FALSE(may_command(1001, 1000));
  CHECK_FALSE(may_command(65534, 0));
}

TEST_CASE("parse_target: decodes percent-encoding and leaves '+' alone", "[control][query]") {
  auto parsed = parse_target("/v1/config/match?regex=a%2Eb+%5c%20%26").value();
  CHECK(parsed.path == "/v1/config/match");
  REQUIRE(parsed.parameters.size() == 1);
  CHECK(parsed.parameters[0].first == "regex");
  CHECK(parsed.parameters[0].second == "a.b+\\ &");
}

TEST_CASE("parse_target: what cannot be read in one way is refused", "[control][query]") {
  CHECK(parse_target("").error().find("must be a path") != std::string::npos);
  CHECK_FALSE(parse_target("http://localhost/v1/status"));
  CHECK(parse_target("/p?a=%4").error().find("'%'") != std::string::npos);
  CHECK_FALSE(parse_target("/p?a=%"));
  CHECK_FALSE(parse_target("/p?a=%4g"));
  CHECK_FALSE(parse_target("/p?a"));
  CHECK_FALSE(parse_target("/p?a=1&&b=2"));
  CHECK(parse_target("/p?a=1&%61=2").error() == "the query parameter 'a' stands twice");
  CHECK(parse_target("/p?a=%ff").error() == "the query is not UTF-8");
}

TEST_CASE("percent_encode: parse_target gives back every byte of UTF-8 text", "[control][query]") {
  std::string text = "h\xc3\xa9 +&=?#/%\"\\\n";
  for (char c = 1; c < 127; ++c) text += c;
  CHECK(parse_target("/p?a=" + percent_encode(text)).value().parameters[0].second == text);
}

TEST_CASE("utf8: well-formed sequences pass, overlong, cut, surrogate and stray ones do not", "[control][utf8]") {
  CHECK(is_utf8(""));
  CHECK(is_utf8("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"));
  for (const char* bad : {"\xff", "\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
                          "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xc3", "\xe2\x82", "\xf0\x9f\x98", "\xc3z"}) {
    CAPTURE(bad);
    CHECK_FALSE(is_utf8(bad));
  }
  CHECK(to_utf8("a\xff\xc3\xa9\xc3") == "a\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd");
  CHECK(is_utf8("\xf4\x8f\xbf\xbf"));
  CHECK(is_utf8("\xed\x9f\xbf"));
}
